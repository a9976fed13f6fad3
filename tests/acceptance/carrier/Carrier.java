/*
 * A carrier's issuing service, as "Airline Electronic Invoice and Itinerary Issuing Service"
 * ("the document" below) describes it. It answers on loopback only and forgets what it issued
 * when it stops.
 *
 *   java Carrier.java --port 0 --registry tickets.csv --today 2026-11-20 --agency A --api-key K \
 *                     --encryption-key E --codes codes.properties --log log.jsonl
 *
 * It prints "LISTENING <port>" once it takes requests.
 *
 * Where the document leaves something open, this carrier takes the following reading:
 *
 *   - One invoice request is one invoice, so the amount limits hold for the total of its lines.
 *     As soon as one line is domestic the domestic limit holds for the whole invoice.
 *   - "Only tickets already used or already refunded" holds for ancillary charges as well.
 *   - A ticket of which some flights were flown and the others refunded is used and refunded.
 *   - "After the refund has been approved" includes the day of the approval.
 *   - Only remarks is said to be allowed to be empty, so every other text must hold something.
 *     The one exception is the tax number of a buyer who is not a business.
 *   - An itinerary is the voucher for the ticket fare, so the ticket must have a fare charge.
 *   - A refused itinerary carries errInfo too, although the document shows it for invoices only.
 *   - A refused result carries its number field as an empty string.
 *   - Failures outside the result: HTTP status and envelope code 400 (form) or 401 (credentials),
 *     with data an empty string.
 */

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Reader;
import java.io.StringReader;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import javax.crypto.Cipher;
import javax.crypto.KeyGenerator;
import javax.crypto.SecretKey;

/** Reads the command line, starts the service and stops it. */
public final class Carrier {

    private static final int WORKERS = 8;

    public static void main(String[] arguments) throws Exception {
        HttpServer server;
        ExecutorService workers = Executors.newFixedThreadPool(WORKERS);
        try {
            server = open(Options.parse(arguments), workers);
        } catch (BadSetup e) {
            System.err.println("carrier: " + e.getMessage());
            System.exit(2);
            return;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(server, workers)));
        server.start();
        System.out.println("LISTENING " + server.getAddress().getPort());
        System.out.flush();
    }

    private static HttpServer open(Options options, ExecutorService workers) throws Exception {
        Codes codes = Codes.load(options.path("codes"));
        Registry registry = Registry.load(options.path("registry"));
        Desk desk = new Desk(registry, options.date("today"), new Journal(options.path("log")));
        Seal seal = new Seal(options.text("encryption-key"));
        Gate gate = new Gate(options.text("agency"), options.text("api-key"));

        // The server sends headers and body apart; without this each answer waits for an ACK.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        InetAddress loopback = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        HttpServer server = HttpServer.create(new InetSocketAddress(loopback, options.port()), 0);
        server.setExecutor(workers);
        server.createContext("/", new Counter(gate, seal, new Forms(codes), desk));
        return server;
    }

    /** Lets the requests already begun get their answer; anything later finds the door shut. */
    private static void stop(HttpServer server, ExecutorService workers) {
        workers.shutdown();
        try {
            workers.awaitTermination(5, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        server.stop(0);
        // A requested stop is not a failure, so it does not end with the signal's exit status.
        Runtime.getRuntime().halt(0);
    }
}

/** The command line: every option is needed, once. */
final class Options {

    private static final List<String> NAMES = List.of("port", "registry", "today", "agency",
            "api-key", "encryption-key", "codes", "log");

    private final Map<String, String> values = new HashMap<>();

    static Options parse(String[] arguments) {
        Options options = new Options();
        for (int i = 0; i < arguments.length; i += 2) {
            String name = arguments[i].startsWith("--") ? arguments[i].substring(2) : "";
            if (!NAMES.contains(name)) {
                throw new BadSetup("unknown option " + arguments[i]);
            }
            if (i + 1 == arguments.length || arguments[i + 1].isEmpty()) {
                throw new BadSetup("option --" + name + " has no value");
            }
            // What Java makes of bytes that its locale cannot read; a key would be a wrong key.
            if (arguments[i + 1].indexOf('\uFFFD') >= 0) {
                throw new BadSetup("option --" + name + " needs a UTF-8 locale, e.g. C.UTF-8");
            }
            if (options.values.put(name, arguments[i + 1]) != null) {
                throw new BadSetup("option --" + name + " is given twice");
            }
        }
        for (String name : NAMES) {
            if (!options.values.containsKey(name)) {
                throw new BadSetup("option --" + name + " is missing");
            }
        }
        return options;
    }

    String text(String name) {
        return values.get(name);
    }

    Path path(String name) {
        return Path.of(values.get(name));
    }

    LocalDate date(String name) {
        try {
            return LocalDate.parse(values.get(name));
        } catch (DateTimeParseException e) {
            throw new BadSetup("option --" + name + " is not a date YYYY-MM-DD");
        }
    }

    int port() {
        try {
            int port = Integer.parseInt(values.get("port"));
            if (port >= 0 && port <= 65535) {
                return port;
            }
        } catch (NumberFormatException e) {
            // Reported below, with the numbers that are out of range.
        }
        throw new BadSetup("option --port is not a port number");
    }
}

/** The two operations. Endpoints: "Method and path". */
enum Operation {
    INVOICE("/invoice/issueInvoice"),
    ITINERARY("/itinerary/issueItinerary");

    final String path;

    Operation(String path) {
        this.path = path;
    }

    static Operation at(HttpExchange exchange) {
        for (Operation operation : values()) {
            if (operation.path.equals(exchange.getRequestURI().getRawPath())) {
                return operation;
            }
        }
        return null;
    }

    static String nameOf(Operation operation) {
        return operation == null ? "unknown" : operation.name().toLowerCase(Locale.ROOT);
    }
}

/** Takes each HTTP request through form, seal and rules, and puts the answer in its envelope. */
final class Counter implements HttpHandler {

    /** Limits: "request-size limits: not shown"; this only keeps a mistake from filling memory. */
    private static final int LARGEST_BODY = 4 << 20;

    private final Gate gate;
    private final Seal seal;
    private final Forms forms;
    private final Desk desk;

    Counter(Gate gate, Seal seal, Forms forms, Desk desk) {
        this.gate = gate;
        this.seal = seal;
        this.forms = forms;
        this.desk = desk;
    }

    @Override
    public void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            // Read before anything is refused: an unread body would break the connection.
            byte[] body = exchange.getRequestBody().readNBytes(LARGEST_BODY + 1);
            Operation operation = Operation.at(exchange);
            try {
                Decision decision = serve(operation, exchange, body);
                answer(exchange, 200, "success", seal.close(Json.write(decision.result())));
            } catch (Unauthorised e) {
                desk.turnAway(operation, "unauthorised: " + e.getMessage());
                answer(exchange, 401, e.getMessage(), "");
            } catch (Malformed e) {
                desk.turnAway(operation, "malformed: " + e.getMessage());
                answer(exchange, 400, e.getMessage(), "");
            }
        } catch (IOException | RuntimeException e) {
            e.printStackTrace();
            throw e;
        }
    }

    private Decision serve(Operation operation, HttpExchange exchange, byte[] body)
            throws IOException {
        gate.checkAddress(operation, exchange);
        gate.checkCredentials(exchange.getRequestHeaders());
        gate.checkContentType(exchange.getRequestHeaders());
        if (body.length > LARGEST_BODY) {
            throw new Malformed("the body is too long");
        }
        // Endpoints: "a single JSON string literal holding the encrypted, Base64-encoded
        // plaintext request document (not a JSON object)".
        if (!(Json.read(Utf8.strict(body, "the body")) instanceof String sealed)) {
            throw new Malformed("the body is not a JSON string literal");
        }
        Object document = Json.read(seal.open(sealed));
        return operation == Operation.INVOICE
                ? desk.invoice(forms.invoice(document))
                : desk.itinerary(forms.itinerary(document));
    }

    /** Resources, "Response envelope": code, message and traceId stay readable. */
    private void answer(HttpExchange exchange, int code, String message, String data)
            throws IOException {
        Map<String, Object> envelope = new LinkedHashMap<>();
        envelope.put("code", code);
        envelope.put("message", message);
        envelope.put("data", data);
        envelope.put("traceId", UUID.randomUUID().toString().replace("-", ""));
        byte[] bytes = Json.write(envelope).getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.sendResponseHeaders(code, -1);
            return;
        }
        exchange.sendResponseHeaders(code, bytes.length);
        exchange.getResponseBody().write(bytes);
    }
}

/** What can be judged before the body is opened: address, method, headers. */
final class Gate {

    /** The document asks for the plain media type; UTF-8 is its only encoding. */
    private static final Pattern CONTENT_TYPE =
            Pattern.compile("application/json(\\s*;\\s*(?i:charset=(utf-8|\"utf-8\")))?");

    private final String agency;
    private final String apiKey;

    Gate(String agency, String apiKey) {
        this.agency = agency;
        this.apiKey = apiKey;
    }

    /** Endpoints, common conventions: "Method: POST. Paths are relative to {base_url}." */
    void checkAddress(Operation operation, HttpExchange exchange) {
        if (operation == null) {
            throw new Malformed("no operation at " + exchange.getRequestURI().getRawPath());
        }
        if (exchange.getRequestURI().getRawQuery() != null) {
            throw new Malformed("the operations take no query");
        }
        if (!exchange.getRequestMethod().equals("POST")) {
            throw new Malformed("the method is " + exchange.getRequestMethod() + ", not POST");
        }
    }

    /** Authentication, Headers: agency "identifies the calling agency", APIKEY carries the key. */
    void checkCredentials(Headers headers) {
        if (!same(agency, single(headers, "agency"))) {
            throw new Unauthorised("the header agency is missing or not known");
        }
        if (!same(apiKey, single(headers, "APIKEY"))) {
            throw new Unauthorised("the header APIKEY is missing or not valid");
        }
    }

    /** Endpoints, common conventions: "Content-Type with the value application/json". */
    void checkContentType(Headers headers) {
        String value = single(headers, "Content-Type");
        if (value == null || !CONTENT_TYPE.matcher(value).matches()) {
            throw new Malformed("the header Content-Type is " + value + ", not application/json");
        }
    }

    /** A header sent twice could be read either way, so it counts as not sent. */
    private static String single(Headers headers, String name) {
        List<String> values = headers.get(name);
        return values == null || values.size() != 1 ? null : values.get(0);
    }

    private static boolean same(String expected, String given) {
        return given != null && MessageDigest.isEqual(
                expected.getBytes(StandardCharsets.UTF_8), given.getBytes(StandardCharsets.UTF_8));
    }
}

/** Authentication, "Payload encryption", steps 1 to 5. */
final class Seal {

    private static final String CIPHER = "AES/ECB/PKCS5Padding";

    private final SecretKey key;

    /** Step 3; the seed goes in before anything is drawn, so that it alone decides the key. */
    Seal(String keyText) throws GeneralSecurityException {
        SecureRandom random = SecureRandom.getInstance("SHA1PRNG");
        random.setSeed(keyText.getBytes(StandardCharsets.UTF_8));
        KeyGenerator generator = KeyGenerator.getInstance("AES");
        generator.init(128, random); // Limits: "AES key length | 128 bits"
        key = generator.generateKey();
    }

    /** Step 4. */
    String close(String plaintext) {
        try {
            byte[] bytes = plaintext.getBytes(StandardCharsets.UTF_8);
            return Base64.getEncoder().encodeToString(cipher(Cipher.ENCRYPT_MODE).doFinal(bytes));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Step 5. */
    String open(String sealed) {
        byte[] ciphertext = decode(sealed);
        try {
            byte[] bytes = cipher(Cipher.DECRYPT_MODE).doFinal(ciphertext);
            return Utf8.strict(bytes, "the decrypted text");
        } catch (GeneralSecurityException e) {
            throw new Malformed("the ciphertext does not open with the encryption key");
        }
    }

    /** The JDK also decodes text without its padding, hence the comparison. */
    private static byte[] decode(String sealed) {
        try {
            byte[] bytes = Base64.getDecoder().decode(sealed);
            if (Base64.getEncoder().encodeToString(bytes).equals(sealed)) {
                return bytes;
            }
        } catch (IllegalArgumentException e) {
            // Reported below, with the text that decodes but is not canonical.
        }
        throw new Malformed("the body string is not Base64");
    }

    /** A cipher object keeps state, so each use has its own. */
    private Cipher cipher(int mode) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance(CIPHER);
        cipher.init(mode, key);
        return cipher;
    }
}

/** Authentication, "Payload encryption", step 2: all text is UTF-8, and nothing else passes. */
final class Utf8 {

    static String strict(byte[] bytes, String what) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            throw new Malformed(what + " is not UTF-8");
        }
    }

    private Utf8() {
    }
}

record InvoiceLine(String ticketNo, String passenger, Product product, ChargeKind kind) {

    String chargeId() {
        return Charge.id(ticketNo, kind, product);
    }
}

record InvoiceRequest(String buyer, List<InvoiceLine> lines) {

    List<String> chargeIds() {
        return lines.stream().map(InvoiceLine::chargeId).toList();
    }
}

/** The number as sent is kept because the result repeats "Ticket number of the request". */
record ItineraryRequest(String buyer, String email, String sentTicketNo, String ticketNo) {

    List<String> chargeIds() {
        return List.of(Charge.id(ticketNo, ChargeKind.TICKET_FARE, Product.FLIGHT));
    }
}

/** Holds a decrypted document against the fields of the section "Resources and their fields". */
final class Forms {

    /** The document gives no format; both usual ways of writing the number are taken. */
    private static final Pattern TICKET_NO = Pattern.compile("[0-9]{3}-?[0-9]{10}");

    private final Codes codes;

    Forms(Codes codes) {
        this.codes = codes;
    }

    /** Resources, "Invoice request (plaintext, before encryption)". */
    InvoiceRequest invoice(Object document) {
        Map<String, Object> root = object(document, "the document", "issueInvoiceInfo");
        Map<String, Object> info = object(root.get("issueInvoiceInfo"), "issueInvoiceInfo",
                "invoiceHeader", "ticketFeeList");
        Map<String, Object> header = object(info.get("invoiceHeader"), "invoiceHeader",
                "invoiceHeaderType", "headerName", "taxNo", "telNo", "email", "remarks");
        String buyer = text(header, "invoiceHeader", "headerName");
        text(header, "invoiceHeader", "telNo");
        text(header, "invoiceHeader", "email");
        textOrEmpty(header, "invoiceHeader", "remarks");
        checkTaxNo(header, "invoiceHeader", "invoiceHeaderType");
        return new InvoiceRequest(buyer, lines(info.get("ticketFeeList")));
    }

    /** "ticketFeeList | array of object | One element per ticket charge to invoice." */
    private List<InvoiceLine> lines(Object value) {
        if (!(value instanceof List<?> list)) {
            throw new Malformed("ticketFeeList is not an array");
        }
        if (list.isEmpty()) {
            throw new Malformed("ticketFeeList is empty");
        }
        List<InvoiceLine> lines = new ArrayList<>();
        for (int i = 0; i < list.size(); i++) {
            lines.add(line(list.get(i), "ticketFeeList[" + i + "]"));
        }
        return lines;
    }

    private InvoiceLine line(Object value, String where) {
        Map<String, Object> line = object(value, where,
                "ticketNo", "psgName", "productType", "feeType");
        return new InvoiceLine(
                ticketNo(text(line, where, "ticketNo"), where + ".ticketNo"),
                text(line, where, "psgName"),
                known(codes.products(), line, where, "productType"),
                known(codes.fees(), line, where, "feeType"));
    }

    /** Resources, "Itinerary request (plaintext, before encryption)". */
    ItineraryRequest itinerary(Object document) {
        Map<String, Object> root = object(document, "the document", "issueItinerary");
        Map<String, Object> info = object(root.get("issueItinerary"), "issueItinerary",
                "itineraryHeader", "ticketNo");
        Map<String, Object> header = object(info.get("itineraryHeader"), "itineraryHeader",
                "name", "taxNo", "email", "phone", "itineraryHeaderType");
        String buyer = text(header, "itineraryHeader", "name");
        String email = text(header, "itineraryHeader", "email");
        text(header, "itineraryHeader", "phone");
        checkTaxNo(header, "itineraryHeader", "itineraryHeaderType");
        String sent = text(info, "issueItinerary", "ticketNo");
        return new ItineraryRequest(buyer, email, sent, ticketNo(sent, "issueItinerary.ticketNo"));
    }

    /** A private buyer has no tax number to give; the field itself must still be there. */
    private void checkTaxNo(Map<String, Object> header, String where, String typeField) {
        String type = known(codes.headers(), header, where, typeField);
        if (type.equals(Codes.BUSINESS)) {
            text(header, where, "taxNo");
        } else {
            textOrEmpty(header, where, "taxNo");
        }
    }

    private static String ticketNo(String value, String where) {
        if (!TICKET_NO.matcher(value).matches()) {
            throw new Malformed(where + " is not a ticket number: " + value);
        }
        return value.replace("-", "");
    }

    /** "Field names are exact": none may be missing, none may be added. */
    private static Map<String, Object> object(Object value, String where, String... fields) {
        if (!(value instanceof Map<?, ?>)) {
            throw new Malformed(where + " is not an object");
        }
        @SuppressWarnings("unchecked") // the JSON reader makes objects with text keys only
        Map<String, Object> object = (Map<String, Object>) value;
        Set<String> missing = new LinkedHashSet<>(List.of(fields));
        missing.removeAll(object.keySet());
        if (!missing.isEmpty()) {
            throw new Malformed(where + " lacks " + String.join(", ", missing));
        }
        Set<String> unknown = new LinkedHashSet<>(object.keySet());
        List.of(fields).forEach(unknown::remove);
        if (!unknown.isEmpty()) {
            throw new Malformed(where + " has unknown " + String.join(", ", unknown));
        }
        return object;
    }

    private static String textOrEmpty(Map<String, Object> object, String where, String field) {
        if (object.get(field) instanceof String text) {
            return text;
        }
        throw new Malformed(where + "." + field + " is not a string");
    }

    private static String text(Map<String, Object> object, String where, String field) {
        String text = textOrEmpty(object, where, field);
        if (text.isBlank()) {
            throw new Malformed(where + "." + field + " is empty");
        }
        return text;
    }

    private static <T> T known(Map<String, T> values, Map<String, Object> object, String where,
            String field) {
        String wire = text(object, where, field);
        T value = values.get(wire);
        if (value == null) {
            throw new Malformed(where + "." + field + " has the unknown value " + wire);
        }
        return value;
    }
}

/** Terms: ticket fare charge, refund charge, ancillary service charge. */
enum ChargeKind { TICKET_FARE, REFUND, ANCILLARY }

/** Terms, "Ancillary service charge": "baggage, seat selection, upgrade, meals, lounge". */
enum Product { FLIGHT, BAGGAGE, SEAT, UPGRADE, MEAL, LOUNGE }

enum Market { DOMESTIC, INTERNATIONAL }

/** PARTLY_USED: some flights of the ticket were flown and the others refunded. */
enum Status {
    USED, REFUNDED, OPEN, PARTLY_USED;

    boolean used() {
        return this == USED || this == PARTLY_USED;
    }

    boolean refunded() {
        return this == REFUNDED || this == PARTLY_USED;
    }
}

/** The values on the wire, and what each stands for. Header kinds go by their names in the file. */
record Codes(Map<String, ChargeKind> fees, Map<String, Product> products,
        Map<String, String> headers) {

    static final String BUSINESS = "business";

    static Codes load(Path file) throws IOException {
        Properties properties = new Properties();
        try (Reader reader = Setup.reader(file)) {
            properties.load(reader);
        }
        Codes codes = new Codes(new HashMap<>(), new HashMap<>(), new HashMap<>());
        for (String name : new TreeSet<>(properties.stringPropertyNames())) {
            codes.add(name, properties.getProperty(name).strip());
        }
        codes.checkDocumentedValues();
        return codes;
    }

    private void add(String name, String wire) {
        String[] parts = name.split("\\.", 2);
        String rest = parts.length == 2 ? parts[1] : "";
        if (wire.isEmpty() || rest.isEmpty()) {
            throw new BadSetup("codes: " + name + " says nothing");
        }
        String where = "codes: " + name;
        Object before = switch (parts[0]) {
            case "fee" -> fees.put(wire, Setup.named(ChargeKind.class, rest, where));
            case "product" -> products.put(wire, Setup.named(Product.class, rest, where));
            case "header" -> headers.put(wire, rest);
            default -> throw new BadSetup("codes: unknown entry " + name);
        };
        if (before != null) {
            throw new BadSetup("codes: " + wire + " would stand for two things, see " + name);
        }
    }

    /** Resources: "Known value: BUSINESS", "Known value: Flight", "Known value: REFUND_FEE". */
    private void checkDocumentedValues() {
        if (!BUSINESS.equals(headers.get("BUSINESS"))
                || products.get("Flight") != Product.FLIGHT
                || fees.get("REFUND_FEE") != ChargeKind.REFUND) {
            throw new BadSetup("codes: header.business=BUSINESS, product.flight=Flight and"
                    + " fee.refund=REFUND_FEE are fixed by the document");
        }
    }
}

/** One thing that can be issued. */
record Charge(String ticketNo, String passenger, ChargeKind kind, Product product,
        BigDecimal amount, Market market, Status status, LocalDate flightDate, LocalDate usedOn,
        LocalDate refundApprovedOn, LocalDate purchasedOn) {

    static String id(String ticketNo, ChargeKind kind, Product product) {
        return (ticketNo + "/" + kind + "/" + product).toLowerCase(Locale.ROOT);
    }

    String id() {
        return id(ticketNo, kind, product);
    }
}

/** The carrier's own knowledge of its tickets, from the CSV file. */
final class Registry {

    private static final List<String> COLUMNS = List.of("ticket_no", "passenger_name", "charge",
            "product", "amount", "market", "status", "flight_date", "used_on",
            "refund_approved_on", "purchased_on");

    private final Map<String, Charge> charges = new HashMap<>();

    static Registry load(Path file) throws IOException {
        List<List<String>> rows = Csv.read(Setup.text(file));
        if (rows.isEmpty() || !rows.get(0).equals(COLUMNS)) {
            throw new BadSetup("registry: the first line must be " + String.join(",", COLUMNS));
        }
        Registry registry = new Registry();
        for (int i = 1; i < rows.size(); i++) {
            registry.add(rows.get(i), "registry: record " + (i + 1));
        }
        return registry;
    }

    Charge find(String chargeId) {
        return charges.get(chargeId);
    }

    private void add(List<String> cells, String where) {
        if (cells.size() != COLUMNS.size()) {
            throw new BadSetup(where + " has " + cells.size() + " cells");
        }
        LocalDate flightDate = date(cells.get(7), where);
        Charge charge = new Charge(
                ticketNo(cells.get(0), where),
                cells.get(1),
                Setup.named(ChargeKind.class, cells.get(2), where),
                Setup.named(Product.class, cells.get(3), where),
                amount(cells.get(4), where),
                Setup.named(Market.class, cells.get(5), where),
                Setup.named(Status.class, cells.get(6), where),
                flightDate,
                cells.get(8).isEmpty() ? flightDate : date(cells.get(8), where),
                date(cells.get(9), where),
                date(cells.get(10), where));
        checkKind(charge, where);
        // A request names a charge by ticket, fee and product only; two alike could not be told
        // apart.
        if (charges.put(charge.id(), charge) != null) {
            throw new BadSetup(where + " repeats " + charge.id());
        }
    }

    /** Terms: fare and refund charges belong to the ticket, ancillary charges to the products. */
    private static void checkKind(Charge charge, String where) {
        boolean ancillary = charge.kind() == ChargeKind.ANCILLARY;
        if (ancillary == (charge.product() == Product.FLIGHT)) {
            throw new BadSetup(where + " has a charge that does not go with its product");
        }
    }

    private static String ticketNo(String cell, String where) {
        String digits = cell.replaceFirst("^([0-9]{3})-", "$1");
        if (!digits.matches("[0-9]{13}")) {
            throw new BadSetup(where + ": not a ticket number: " + cell);
        }
        return digits;
    }

    private static BigDecimal amount(String cell, String where) {
        if (!cell.matches("[0-9]+(\\.[0-9]+)?")) {
            throw new BadSetup(where + ": not an amount: " + cell);
        }
        return new BigDecimal(cell);
    }

    private static LocalDate date(String cell, String where) {
        try {
            return cell.isEmpty() ? null : LocalDate.parse(cell);
        } catch (DateTimeParseException e) {
            throw new BadSetup(where + ": not a date: " + cell);
        }
    }
}

/** What became of a request: the line in the log and the result document for the caller. */
record Decision(Operation operation, boolean accepted, String reason, String number,
        List<String> charges, String buyer, Map<String, Object> result) {

    /** Resources, "Invoice result (decrypted data)"; Endpoints, Issue invoice, rule 1. */
    static Decision invoice(InvoiceRequest request, String number, String refusal) {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("success", refusal.isEmpty());
        result.put("errInfo", refusal.isEmpty() ? "The request has been received." : refusal);
        result.put("invoiceId", number);
        return new Decision(Operation.INVOICE, refusal.isEmpty(), refusal, number,
                request.chargeIds(), request.buyer(), result);
    }

    /** Resources, "Itinerary result (decrypted data)"; Endpoints, Issue itinerary, rule 1. */
    static Decision itinerary(ItineraryRequest request, String number, String refusal) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("ticketNo", request.sentTicketNo());
        fields.put("itineraryNum", number);
        fields.put("success", refusal.isEmpty());
        if (!refusal.isEmpty()) {
            // The document gives a refused itinerary no place for its reason; this one is ours.
            fields.put("errInfo", refusal);
        }
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("itineraryResult", fields);
        return new Decision(Operation.ITINERARY, refusal.isEmpty(), refusal, number,
                request.chargeIds(), request.buyer(), result);
    }
}

/**
 * Applies the rules and remembers what was issued. One request at a time passes the desk, so
 * that two requests for one charge cannot both find it free, and the log keeps the true order.
 */
final class Desk {

    private final Rules rules;
    private final Issued issued;
    private final Journal journal;

    Desk(Registry registry, LocalDate today, Journal journal) {
        this.issued = new Issued(today);
        this.rules = new Rules(registry, today, issued);
        this.journal = journal;
    }

    synchronized Decision invoice(InvoiceRequest request) throws IOException {
        Decision decision;
        try {
            rules.checkInvoice(request);
            decision = Decision.invoice(request, issued.addInvoice(request.chargeIds()), "");
        } catch (Refused e) {
            decision = Decision.invoice(request, "", e.getMessage());
        }
        journal.write(decision);
        return decision;
    }

    synchronized Decision itinerary(ItineraryRequest request) throws IOException {
        Decision decision;
        try {
            rules.checkItinerary(request);
            decision = Decision.itinerary(request, issued.addItinerary(request.ticketNo()), "");
        } catch (Refused e) {
            decision = Decision.itinerary(request, "", e.getMessage());
        }
        journal.write(decision);
        return decision;
    }

    /** A request that never became a document; only the log hears of it. */
    synchronized void turnAway(Operation operation, String reason) throws IOException {
        journal.write(new Decision(operation, false, reason, "", List.of(), "", Map.of()));
    }
}

/** What has been issued so far, and the numbers it was issued under. */
final class Issued {

    private final String day;
    /** Starts anywhere, so that a restarted service is unlikely to give a number again. */
    private long sequence = new SecureRandom().nextInt(1_000_000_000);
    private final Map<String, String> invoiceOfCharge = new HashMap<>();
    private final Map<String, String> itineraryOfTicket = new HashMap<>();

    Issued(LocalDate today) {
        this.day = today.format(DateTimeFormatter.BASIC_ISO_DATE);
    }

    String invoiceOf(String chargeId) {
        return invoiceOfCharge.get(chargeId);
    }

    String itineraryOf(String ticketNo) {
        return itineraryOfTicket.get(ticketNo);
    }

    /** Invoice result: "numeric digits, 18 characters in the observed shape". */
    String addInvoice(List<String> chargeIds) {
        String number = day + String.format("%010d", ++sequence);
        chargeIds.forEach(id -> invoiceOfCharge.put(id, number));
        return number;
    }

    /** Itinerary result: "numeric digits, 20 characters in the observed shape". */
    String addItinerary(String ticketNo) {
        String number = day + String.format("%012d", ++sequence);
        itineraryOfTicket.put(ticketNo, number);
        return number;
    }
}

/** The preconditions under "Limits" and in the rules of both endpoints. */
final class Rules {

    private static final BigDecimal DOMESTIC_LIMIT = new BigDecimal("10000");
    private static final BigDecimal INTERNATIONAL_LIMIT = new BigDecimal("100000");
    private static final int ITINERARY_DAYS = 180;
    private static final Pattern ADDRESS = Pattern.compile("[^@\\s]+@[^@\\s]+");

    private final Registry registry;
    private final LocalDate today;
    private final Issued issued;

    Rules(Registry registry, LocalDate today, Issued issued) {
        this.registry = registry;
        this.today = today;
        this.issued = issued;
    }

    void checkInvoice(InvoiceRequest request) {
        checkKindsTogether(request);
        Set<String> seen = new LinkedHashSet<>();
        List<Charge> charges = new ArrayList<>();
        for (InvoiceLine line : request.lines()) {
            if (!seen.add(line.chargeId())) {
                throw new Refused("Invoice request, ticketFeeList",
                        line.chargeId() + " is listed twice");
            }
            Charge charge = find(line);
            checkEligible(charge);
            checkTime(charge);
            checkInvoiceFree(charge);
            charges.add(charge);
        }
        checkAmount(charges);
    }

    void checkItinerary(ItineraryRequest request) {
        // Issue itinerary, rule 2: the itinerary goes to "the e-mail address passed in
        // itineraryHeader.email, so that address must be correct".
        if (!ADDRESS.matcher(request.email()).matches()) {
            throw new Refused("Issue itinerary, rule 2", "not an e-mail address");
        }
        Charge fare = registry.find(request.chargeIds().get(0));
        if (fare == null) {
            throw new Refused("Itinerary request, ticketNo",
                    "no ticket fare is known for " + request.ticketNo());
        }
        checkUsed(fare);
        checkFlightAge(fare);
        checkItineraryFree(fare);
        // Issue itinerary, rule 5, and Limits, "Itinerary file format | OFD only": about
        // retrieval; no request carries a format, so there is nothing to hold it against.
    }

    /**
     * Issue invoice, rule 3: "Ticket fare charges are not issued in the same request as other
     * kinds of charge"; Limits, "Ticket fare charge with other charges | Not allowed in the same
     * issuing".
     */
    private static void checkKindsTogether(InvoiceRequest request) {
        long fares = request.lines().stream()
                .filter(line -> line.kind() == ChargeKind.TICKET_FARE).count();
        if (fares > 0 && fares < request.lines().size()) {
            throw new Refused("Limits, Ticket fare charge with other charges",
                    "a ticket fare is requested together with another kind of charge");
        }
    }

    /** Invoice request: ticketNo, productType and feeType name the charge, psgName its owner. */
    private Charge find(InvoiceLine line) {
        Charge charge = registry.find(line.chargeId());
        if (charge == null) {
            throw new Refused("Invoice request, ticketFeeList",
                    "no such charge: " + line.chargeId());
        }
        // "Passenger name in the ticket's name format", so as the ticket has it, letter by letter.
        if (!charge.passenger().equals(line.passenger())) {
            throw new Refused("Invoice request, psgName",
                    "ticket " + line.ticketNo() + " is in another passenger's name");
        }
        return charge;
    }

    /**
     * Limits, "Ticket eligibility for invoicing | Only tickets already used or already refunded";
     * Terms: a ticket fare charge is "issued when the ticket has been used", a refund charge
     * "issued when the ticket has been refunded".
     */
    private static void checkEligible(Charge charge) {
        boolean eligible = switch (charge.kind()) {
            case TICKET_FARE -> charge.status().used();
            case REFUND -> charge.status().refunded();
            case ANCILLARY -> charge.status() != Status.OPEN;
        };
        if (!eligible) {
            throw new Refused("Limits, Ticket eligibility for invoicing", charge.id()
                    + " cannot be issued while its ticket is " + Setup.label(charge.status()));
        }
    }

    private void checkTime(Charge charge) {
        switch (charge.kind()) {
            // "Within one year after the ticket was used"
            case TICKET_FARE -> checkWithinOneYear(charge, charge.usedOn(),
                    "Limits, Time to request ticket fare charge");
            // "Within one year after purchase"
            case ANCILLARY -> checkWithinOneYear(charge, charge.purchasedOn(),
                    "Limits, Time to request ancillary charge");
            case REFUND -> checkApproved(charge);
        }
    }

    /** The same day of the next year is still within; for 29 February that day is the 28th. */
    private void checkWithinOneYear(Charge charge, LocalDate start, String section) {
        if (start == null || start.isAfter(today)) {
            throw new Refused(section, charge.id() + " is not due yet");
        }
        if (today.isAfter(start.plusYears(1))) {
            throw new Refused(section,
                    charge.id() + " could be requested until " + start.plusYears(1));
        }
    }

    /** Limits, "Time to request refund charge | After the refund has been approved". */
    private void checkApproved(Charge charge) {
        LocalDate approved = charge.refundApprovedOn();
        if (approved == null || approved.isAfter(today)) {
            throw new Refused("Limits, Time to request refund charge",
                    charge.id() + " has no approved refund yet");
        }
    }

    /**
     * Issue invoice, rule 2: "A ticket fare charge or refund charge for a ticket is issued either
     * as an invoice or as an itinerary, never both." That a second invoice needs a red one first
     * follows from Terms, "Red invoice", and there is no operation for it.
     */
    private void checkInvoiceFree(Charge charge) {
        String invoice = issued.invoiceOf(charge.id());
        if (invoice != null) {
            throw new Refused("Terms, Red invoice",
                    charge.id() + " is already on invoice " + invoice);
        }
        String itinerary = issued.itineraryOf(charge.ticketNo());
        if (itinerary != null && charge.kind() != ChargeKind.ANCILLARY) {
            throw new Refused("Issue invoice, rule 2", charge.id()
                    + " cannot be invoiced, the ticket has itinerary " + itinerary);
        }
    }

    /**
     * Limits, "Maximum amount of a single domestic invoice | 10000" and "Maximum amount of a
     * single international invoice | 100000". The result has one invoiceId, so the lines of a
     * request add up to a single invoice.
     */
    private static void checkAmount(List<Charge> charges) {
        BigDecimal total = charges.stream().map(Charge::amount)
                .reduce(BigDecimal.ZERO, BigDecimal::add);
        boolean domestic = charges.stream().anyMatch(c -> c.market() == Market.DOMESTIC);
        BigDecimal limit = domestic ? DOMESTIC_LIMIT : INTERNATIONAL_LIMIT;
        if (total.compareTo(limit) > 0) {
            throw new Refused("Limits, Maximum amount of a single "
                    + (domestic ? "domestic" : "international") + " invoice",
                    total.toPlainString() + " is more than " + limit.toPlainString());
        }
    }

    /** Issue itinerary, rule 3: "Only a ticket that has been used is eligible." */
    private void checkUsed(Charge fare) {
        boolean used = fare.status().used()
                && fare.usedOn() != null && !fare.usedOn().isAfter(today);
        if (!used) {
            throw new Refused("Limits, Ticket eligibility for itinerary",
                    "ticket " + fare.ticketNo() + " has not been used");
        }
    }

    /**
     * Issue itinerary, rule 4: "Only tickets for carrier flights within the last 180 days are
     * supported"; Limits, "Flight age for itinerary | Flights within 180 days". Every ticket of
     * the registry is for this carrier's flights.
     */
    private void checkFlightAge(Charge fare) {
        LocalDate flight = fare.flightDate();
        if (flight == null || flight.isAfter(today)
                || today.isAfter(flight.plusDays(ITINERARY_DAYS))) {
            throw new Refused("Limits, Flight age for itinerary", "the flight of ticket "
                    + fare.ticketNo() + " is not within the last " + ITINERARY_DAYS + " days");
        }
    }

    /**
     * Issue itinerary, rule 6: "A ticket's reimbursement voucher is either an invoice or an
     * itinerary, never both"; Limits, "Voucher per ticket fare | One of invoice or itinerary
     * only". Invoiced ancillary charges do not count, they are no voucher for the ticket.
     */
    private void checkItineraryFree(Charge fare) {
        String itinerary = issued.itineraryOf(fare.ticketNo());
        if (itinerary != null) {
            throw new Refused("Limits, Voucher per ticket fare",
                    "ticket " + fare.ticketNo() + " already has itinerary " + itinerary);
        }
        for (ChargeKind kind : List.of(ChargeKind.TICKET_FARE, ChargeKind.REFUND)) {
            String id = Charge.id(fare.ticketNo(), kind, Product.FLIGHT);
            if (issued.invoiceOf(id) != null) {
                throw new Refused("Issue itinerary, rule 6",
                        id + " is already on invoice " + issued.invoiceOf(id));
            }
        }
    }
}

/** The log: one JSON object a line, written before the answer goes out. */
final class Journal {

    private final OutputStream out;

    Journal(Path file) {
        try {
            out = Files.newOutputStream(file, StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new BadSetup("cannot write the log " + file);
        }
    }

    /** One write per line, so that a reader never sees half of one. */
    void write(Decision decision) throws IOException {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("operation", Operation.nameOf(decision.operation()));
        line.put("accepted", decision.accepted());
        line.put("reason", decision.reason());
        line.put("number", decision.number());
        line.put("charges", decision.charges());
        line.put("buyer", decision.buyer());
        out.write((Json.write(line) + "\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }
}

/** A strict reader and a compact writer for JSON. A key given twice in one object is refused. */
final class Json {

    private static final int DEEPEST = 32;
    private static final Pattern NUMBER =
            Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value(0);
        if (json.at < text.length()) {
            throw json.wrong("something after the value");
        }
        return value;
    }

    private Object value(int depth) {
        if (depth > DEEPEST) {
            throw wrong("too many levels");
        }
        skipSpace();
        Object value = switch (peek()) {
            case '{' -> object(depth);
            case '[' -> array(depth);
            case '"' -> string();
            default -> word();
        };
        skipSpace();
        return value;
    }

    private Map<String, Object> object(int depth) {
        Map<String, Object> object = new LinkedHashMap<>();
        take('{');
        skipSpace();
        if (peek() == '}') {
            at++;
            return object;
        }
        while (true) {
            skipSpace();
            String key = string();
            skipSpace();
            take(':');
            if (object.containsKey(key)) {
                throw wrong("the key " + key + " twice");
            }
            object.put(key, value(depth + 1));
            if (peek() == '}') {
                at++;
                return object;
            }
            take(',');
        }
    }

    private List<Object> array(int depth) {
        List<Object> array = new ArrayList<>();
        take('[');
        skipSpace();
        if (peek() == ']') {
            at++;
            return array;
        }
        while (true) {
            array.add(value(depth + 1));
            if (peek() == ']') {
                at++;
                return array;
            }
            take(',');
        }
    }

    private String string() {
        StringBuilder string = new StringBuilder();
        take('"');
        while (peek() != '"') {
            char c = text.charAt(at++);
            if (c < ' ') {
                throw wrong("a control character in a string");
            }
            string.append(c == '\\' ? escape() : c);
        }
        at++;
        checkSurrogates(string);
        return string.toString();
    }

    private char escape() {
        char c = peek();
        at++;
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> unicode();
            default -> throw wrong("an unknown escape");
        };
    }

    private char unicode() {
        String digits = text.substring(at, Math.min(at + 4, text.length()));
        if (!digits.matches("[0-9A-Fa-f]{4}")) {
            throw wrong("an incomplete escape");
        }
        at += 4;
        return (char) Integer.parseInt(digits, 16);
    }

    /** Escapes can make half a character, which UTF-8 could not carry on. */
    private void checkSurrogates(CharSequence string) {
        if (string.codePoints().anyMatch(c -> c >= 0xD800 && c <= 0xDFFF)) {
            throw wrong("half a character");
        }
    }

    private Object word() {
        int start = at;
        while (at < text.length() && " \t\r\n,:[]{}\"".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String word = text.substring(start, at);
        if (NUMBER.matcher(word).matches()) {
            return number(word);
        }
        return switch (word) {
            case "true" -> Boolean.TRUE;
            case "false" -> Boolean.FALSE;
            case "null" -> null;
            default -> throw wrong("no value");
        };
    }

    private BigDecimal number(String word) {
        try {
            return new BigDecimal(word);
        } catch (NumberFormatException e) {
            throw wrong("a number out of range");
        }
    }

    private void skipSpace() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char peek() {
        if (at >= text.length()) {
            throw wrong("an early end");
        }
        return text.charAt(at);
    }

    private void take(char expected) {
        if (peek() != expected) {
            throw wrong("no " + expected);
        }
        at++;
    }

    private Malformed wrong(String what) {
        return new Malformed("not JSON: " + what + " at character " + at);
    }

    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        append(out, value);
        return out.toString();
    }

    private static void append(StringBuilder out, Object value) {
        if (value instanceof String string) {
            quote(out, string);
        } else if (value instanceof Map<?, ?> map) {
            String separator = "{";
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                out.append(separator);
                quote(out, (String) entry.getKey());
                out.append(':');
                append(out, entry.getValue());
                separator = ",";
            }
            out.append(map.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> list) {
            String separator = "[";
            for (Object item : list) {
                out.append(separator);
                append(out, item);
                separator = ",";
            }
            out.append(list.isEmpty() ? "[]" : "]");
        } else {
            out.append(value);
        }
    }

    private static void quote(StringBuilder out, String string) {
        out.append('"');
        for (char c : string.toCharArray()) {
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}

/** CSV with quoted cells; lines with nothing on them are left out. */
final class Csv {

    private final String text;
    private int at;

    private Csv(String text) {
        this.text = text;
    }

    static List<List<String>> read(String text) {
        Csv csv = new Csv(text.replace("\r\n", "\n"));
        List<List<String>> rows = new ArrayList<>();
        while (csv.at < csv.text.length()) {
            List<String> row = csv.row();
            if (!row.equals(List.of(""))) {
                rows.add(row);
            }
        }
        return rows;
    }

    private List<String> row() {
        List<String> cells = new ArrayList<>();
        while (true) {
            cells.add(ahead('"') ? quoted() : plain());
            if (ahead(',')) {
                at++;
                continue;
            }
            if (at < text.length() && !ahead('\n')) {
                throw new BadSetup("registry: something after a closing quote");
            }
            at++;
            return cells;
        }
    }

    private String plain() {
        int start = at;
        while (at < text.length() && !ahead(',') && !ahead('\n')) {
            at++;
        }
        return text.substring(start, at).strip();
    }

    private String quoted() {
        StringBuilder cell = new StringBuilder();
        at++;
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c != '"') {
                cell.append(c);
            } else if (ahead('"')) {
                cell.append('"');
                at++;
            } else {
                return cell.toString();
            }
        }
        throw new BadSetup("registry: a quote is not closed");
    }

    private boolean ahead(char c) {
        return at < text.length() && text.charAt(at) == c;
    }
}

/** Small helpers for the files given on the command line. */
final class Setup {

    static String text(Path file) throws IOException {
        try {
            String text = Files.readString(file, StandardCharsets.UTF_8);
            return text.startsWith("\uFEFF") ? text.substring(1) : text;
        } catch (CharacterCodingException e) {
            throw new BadSetup(file + " is not UTF-8");
        } catch (IOException e) {
            throw new BadSetup("cannot read " + file);
        }
    }

    static Reader reader(Path file) throws IOException {
        return new StringReader(text(file));
    }

    static <E extends Enum<E>> E named(Class<E> type, String name, String where) {
        return Arrays.stream(type.getEnumConstants())
                .filter(value -> label(value).equals(name))
                .findFirst()
                .orElseThrow(() -> new BadSetup(where + ": unknown value " + name));
    }

    static String label(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    private Setup() {
    }
}

/** The command line or a file it names cannot be used. */
final class BadSetup extends RuntimeException {

    private static final long serialVersionUID = 1L;

    BadSetup(String message) {
        super(message);
    }
}

/** The request does not have the documented form. */
final class Malformed extends RuntimeException {

    private static final long serialVersionUID = 1L;

    Malformed(String message) {
        super(message);
    }
}

/** The caller did not show that it may call. */
final class Unauthorised extends RuntimeException {

    private static final long serialVersionUID = 1L;

    Unauthorised(String message) {
        super(message);
    }
}

/** A well-formed request that a rule of the document does not allow. */
final class Refused extends RuntimeException {

    private static final long serialVersionUID = 1L;

    Refused(String section, String why) {
        super(section + ": " + why);
    }
}
