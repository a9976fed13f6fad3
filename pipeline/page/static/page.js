// The one script of the page. Without it everything still works but what is live: progress, and corrections in their place.
"use strict";

(() => {
  const token = document.querySelector('meta[name="csrf"]').content;
  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

  /** Ask the server as a script does: with the form's token, and for JSON unless told otherwise. */
  async function ask(address, options = {}) {
    const headers = { Accept: "application/json", "X-CSRF-Token": token, ...options.headers };
    const answer = await fetch(address, { credentials: "same-origin", redirect: "error", ...options, headers });
    if (answer.status === 401) {
      location.reload(); // which leads to the login, and back here
    }
    return answer;
  }

  /** The same for JSON; what the server refuses is an error with its words and its status. */
  async function askedJson(address, options = {}) {
    let answer;
    try {
      answer = await ask(address, options);
    } catch {
      throw new Error(document.body.dataset.away);
    }
    const said = await answer.json();
    if (!answer.ok) throw Object.assign(new Error(said.problem ?? String(answer.status)), { status: answer.status });
    return said;
  }

  /** Say something to whoever does not see the page. */
  const tell = (text) => {
    document.getElementById("told").textContent = text;
  };

  /**
   * <section data-live="/months/7/progress" data-every="1500">: what is in it is asked for anew, as HTML, so many milliseconds
   * after the last answer; an answer with the header X-Reload has the whole page loaded again. A form that somebody is
   * filling in is left alone.
   */
  function live(element) {
    const every = Number(element.dataset.every) || 2000;
    const again = async () => {
      if (document.hidden || element.contains(document.activeElement)) {
        setTimeout(again, every);
        return;
      }
      try {
        const answer = await ask(element.dataset.live);
        if (answer.headers.has("X-Reload")) {
          location.reload();
          return;
        }
        if (answer.ok) {
          const text = await answer.text();
          if (text !== element.dataset.seen) {
            element.innerHTML = text; // a page of ours, escaped as every other
            element.dataset.seen = text;
          }
        }
      } catch {
        // The server is being restarted, or the network is away: it is asked again.
      }
      setTimeout(again, every);
    };
    setTimeout(again, every);
  }

  /** A form is sent once, however often its button is pressed; one that brought a file to save can be sent again after a while. */
  function once(form) {
    form.addEventListener("submit", (event) => {
      if (form.dataset.sent) {
        event.preventDefault();
        return;
      }
      form.dataset.sent = "1";
      event.submitter?.setAttribute("aria-busy", "true");
      setTimeout(() => {
        delete form.dataset.sent;
        event.submitter?.removeAttribute("aria-busy");
      }, 5000);
    });
  }

  // --- uploads: files chosen, dropped, or a folder of them; how far they are -----------------------

  const RESULT = /\.result\.xlsx$/i;

  function uploads(form) {
    const input = form.querySelector('input[type="file"][name]');
    const folder = form.querySelector("[data-folder]");
    const drop = form.querySelector(".drop");
    const list = form.querySelector(".chosen");
    const suffixes = input.accept.split(",");
    for (const element of form.querySelectorAll("[data-scripted]")) element.hidden = false;
    for (const label of form.querySelectorAll(".pick")) {
      label.classList.add("button");
      label.querySelector("input").classList.add("unseen");
    }

    /** What of a folder is a workbook of somebody's: no lock file, and where tickets are wanted no result of ours. */
    const isWorkbook = ({ name }) =>
      suffixes.some((suffix) => name.toLowerCase().endsWith(suffix)) &&
      !name.startsWith("~$") &&
      !(input.name === "workbooks" && RESULT.test(name));

    function choose(files) {
      const chosen = new DataTransfer();
      for (const file of files) chosen.items.add(file);
      input.files = chosen.files;
      show();
    }

    function show() {
      const lines = [...input.files].map((file) => {
        const line = document.createElement("li");
        const name = document.createElement("bdi");
        const remove = document.createElement("input");
        name.textContent = file.name;
        remove.type = "button";
        remove.className = "button quiet";
        remove.value = list.dataset.takeOut;
        remove.setAttribute("aria-label", `${list.dataset.takeOut} ${file.name.replace(/\p{C}/gu, "\ufffd")}`);
        remove.addEventListener("click", () => {
          choose([...input.files].filter((other) => other !== file));
          input.focus();
        });
        line.append(name, ` ${Math.max(1, Math.round(file.size / 1000)).toLocaleString("en")} kB `, remove);
        return line;
      });
      list.replaceChildren(...lines);
    }

    let before = [];
    input.addEventListener("click", () => {
      before = [...input.files];
    });
    input.addEventListener("change", () => {
      const now = [...input.files]; // what is chosen comes to what there is
      choose([...before.filter((one) => !now.some((other) => other.name === one.name)), ...now]);
      before = [];
    });
    folder.addEventListener("change", () => {
      choose([...input.files, ...[...folder.files].filter(isWorkbook)]);
      folder.value = "";
    });

    for (const name of ["dragover", "dragenter"]) {
      drop.addEventListener(name, (event) => {
        event.preventDefault();
        drop.classList.add("over");
      });
    }
    drop.addEventListener("dragleave", () => drop.classList.remove("over"));
    drop.addEventListener("drop", async (event) => {
      event.preventDefault();
      drop.classList.remove("over");
      const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.());
      const files = [...event.dataTransfer.files];
      const found = entries.some((entry) => entry?.isDirectory) ? (await Promise.all(entries.map(within))).flat() : files;
      choose([...input.files, ...found]);
    });

    /** The files of what was dropped; of a folder its workbooks, however deep. */
    async function within(entry) {
      if (!entry) return [];
      if (entry.isFile) return [await new Promise((done, failed) => entry.file(done, failed))];
      const reader = entry.createReader();
      const found = [];
      for (;;) {
        const some = await new Promise((done, failed) => reader.readEntries(done, failed)); // a hundred at a time
        if (!some.length) return found.filter(isWorkbook);
        found.push(...(await Promise.all(some.map(within))).flat());
      }
    }

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      send(form, input);
    });
    show();
  }

  function send(form, input) {
    const told = form.querySelector(".upload-progress");
    const bar = told.querySelector("progress");
    const text = told.querySelector("p");
    const button = form.querySelector("button");
    const say = (words, problem = false) => {
      text.textContent = words;
      text.classList.toggle("bad", problem);
      button.disabled = !problem;
      bar.hidden = problem;
    };
    told.hidden = false;
    if ([...input.files].reduce((sum, file) => sum + file.size, 0) > Number(told.dataset.most)) {
      say(told.dataset.tooLarge, true);
      return;
    }
    const request = new XMLHttpRequest(); // which tells how far it is, as fetch does not
    let tenths = -1;
    request.upload.addEventListener("progress", (seen) => {
      if (!seen.lengthComputable) return;
      bar.value = (100 * seen.loaded) / seen.total;
      const now = Math.floor(bar.value / 10);
      if (now === tenths) return;
      tenths = now;
      say(seen.loaded === seen.total ? told.dataset.stored : told.dataset.going.replace("{}", String(10 * now)));
    });
    request.addEventListener("load", () => {
      if (request.status < 400) {
        location.assign(request.responseURL);
        return;
      }
      let problem = String(request.status);
      try {
        problem = JSON.parse(request.responseText).problem;
      } catch {
        // no words of ours: a proxy's
      }
      say(problem, true);
    });
    request.addEventListener("error", () => say(document.body.dataset.away, true));
    say(told.dataset.going.replace("{}", "0"));
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/json");
    request.send(new FormData(form));
  }

  // --- a month that somebody looks at: it is read, sent, or changed by others -----------------------

  let ours = 0; // corrections of this page that are under way: their changes are no news

  async function follow(element) {
    const { month, busy } = element.dataset;
    for (;;) {
      await pause(busy === "sending" ? 700 : busy ? 400 : 3000);
      if (ours || (document.hidden && !busy)) continue;
      const before = element.dataset.stamp;
      let seen;
      try {
        seen = await askedJson(`/months/${month}/state`);
      } catch (problem) {
        if (problem.status === 404) return;
        await pause(3000); // the server is away: it may come back
        continue;
      }
      if (ours || before !== element.dataset.stamp) continue;
      if (seen.stamp !== before) {
        if (element.dataset.follow === "show" && !isUsed()) {
          location.reload();
          return;
        }
        element.querySelector(".notice").hidden = false;
        return;
      }
      const progress = document.querySelector("[data-progress] progress");
      if (progress && seen.total) {
        progress.max = seen.total;
        progress.value = seen.done;
        document.querySelector("[data-progress-text]").textContent = seen.text;
        document.querySelector("[data-progress-left]").textContent = seen.left;
      }
    }
  }

  /** Whether somebody is at a form of the page, or has chosen files. */
  const isUsed = () =>
    document.activeElement?.matches("main input, main select, main textarea") ||
    [...document.querySelectorAll('main input[type="file"]')].some((input) => input.files.length);

  // --- cells that are saved where they stand ---------------------------------------------------------

  const seenOf = (cell) => cell.form.querySelector(`[name="seen.${CSS.escape(cell.dataset.column)}"]`);
  /** Whether a cell says something else than what was read, or is being saved: Enter changes a cell and sends its form. */
  const isChanged = (cell) => cell.value !== (cell.dataset.saving ?? seenOf(cell).value);
  const cellsOf = (part) => [...part.querySelectorAll("[data-row][data-column]")];
  const partOf = (row) => document.querySelector(`[data-part][data-of="${row}"]`);

  const sent = new Map(); // by row: its last save, answered or not

  /** Send cells of one row once what was sent of it before is answered: that is what is seen in them then. */
  async function post(cells, row, before) {
    const body = new URLSearchParams(partOf(row).dataset.place);
    const said = cells.map((cell) => [cell, cell.value]);
    for (const [cell, value] of said) cell.dataset.saving = value;
    await before;
    for (const [cell, value] of said) {
      body.append(cell.name, value);
      body.append(seenOf(cell).name, seenOf(cell).value);
    }
    await askedJson(cells[0].form.action, { method: "POST", body });
    for (const [cell, value] of said) seenOf(cell).value = value;
  }

  /** Save cells of one row, and show the row as it is judged then; those that could not be saved say why. */
  async function save(cells) {
    const [{ form, dataset }] = cells;
    const { row } = dataset;
    const wished = new Map(cells.map((cell) => [cell.dataset.column, cell.value]));
    const tickets = new Set([partOf(row).dataset.ticket, wished.get("ticket_no")]);
    const told = form.querySelector(".saving");
    told.textContent = told.dataset.saving;
    told.classList.remove("bad");
    ours += 1;
    let refused = null;
    const mine = post(cells, row, sent.get(row));
    const answered = mine.catch(() => {});
    sent.set(row, answered);
    try {
      try {
        await mine;
      } catch (problem) {
        if (problem.status !== 409) throw problem;
        refused = problem; // what stands now takes its place
      }
      const now = await judged(row);
      if (!refused && sent.get(row) !== answered) return; // what was sent after it shows all of the row
      replace(row, now.html, Boolean(refused));
      if (refused) explain(row, wished, refused.message);
      tell(refused ? refused.message : now.told);
      for (const other of document.querySelectorAll("[data-part]")) {
        if (other.dataset.of !== row && tickets.has(other.dataset.ticket)) {
          replace(other.dataset.of, (await judged(other.dataset.of)).html);
        }
      }
    } catch (problem) {
      for (const cell of cells) delete cell.dataset.saving;
      told.textContent = problem.message || told.dataset.late;
      told.classList.toggle("bad", Boolean(problem.message));
      if (problem === LATE) {
        const again = document.createElement("a");
        again.href = "";
        again.textContent = told.dataset.reload;
        told.append(" ", again);
      }
      tell(told.textContent);
    } finally {
      ours -= 1;
    }
  }

  const LATE = new Error(""); // what was saved is judged later than anybody waits for
  const PATIENCE = 20_000;

  /** A row as it is shown once the month has been judged as it is now; LATE is thrown where that takes its time. */
  async function judged(row) {
    const month = document.querySelector("[data-follow]");
    const until = Date.now() + PATIENCE;
    for (;;) {
      if (Date.now() > until) throw LATE;
      const { part, place } = partOf(row).dataset;
      const now = await askedJson(`/months/${month.dataset.month}/rows/${row}/state?part=${part}&${place}`);
      if (now.judged) {
        month.dataset.stamp = now.stamp;
        return now;
      }
      await pause(200);
    }
  }

  /** Put a row in its place, with what was typed into it, and the focus where it was; while somebody types, only where that is `pressing`. */
  function replace(row, html, pressing = false) {
    const part = partOf(row);
    const focused = part.contains(document.activeElement) ? document.activeElement : null;
    if (!pressing && focused?.dataset.column && isChanged(focused)) {
      const last = sent.get(row);
      const left = () => sent.get(row) === last && replace(row, html); // else that save shows the row
      focused.addEventListener("blur", left, { once: true });
      return;
    }
    const typed = cellsOf(part).filter(isChanged).map((cell) => [cell.dataset.column, cell.value]);
    const holder = document.createElement(part.localName === "tbody" ? "table" : "div");
    holder.innerHTML = html; // a part of a page of ours, escaped as every other
    const now = holder.querySelector("[data-part]");
    part.replaceWith(now);
    corrected(now);
    const cellOf = (column) => cellsOf(now).find((cell) => cell.dataset.column === column);
    for (const [column, text] of typed) {
      const cell = cellOf(column);
      if (cell) cell.value = text;
    }
    if (!focused) return;
    const again = focused.dataset.column
      ? cellOf(focused.dataset.column)
      : now.querySelector("form[data-correct] button");
    (again ?? now.querySelector("a, button"))?.focus();
    if (again?.select) again.select();
  }

  /** Say beside cells that somebody else was quicker, and offer to write one's own text nevertheless. */
  function explain(row, wished, words) {
    const part = partOf(row);
    const { allTheSame } = part.querySelector(".saving")?.dataset ?? {};
    document.querySelector("[data-follow] .notice").hidden = Boolean(allTheSame); // the row takes no corrections any more
    for (const cell of cellsOf(part)) {
      const mine = wished.get(cell.dataset.column);
      if (mine === undefined || mine === cell.value) continue;
      const said = document.createElement("p");
      const button = document.createElement("button");
      said.className = "why bad";
      said.textContent = words;
      button.type = "button";
      button.textContent = allTheSame;
      button.addEventListener("click", () => {
        cell.value = mine;
        save([cell]);
      });
      said.append(" ", button);
      cell.closest(".field").append(said);
    }
  }

  /** Have the cells of a part of the page saved as they are changed, and by Enter. */
  function corrected(part) {
    for (const form of part.querySelectorAll("form[data-correct]")) {
      for (const cell of cellsOf(form)) {
        cell.addEventListener("change", () => {
          if (isChanged(cell)) save([cell]);
        });
      }
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        const cells = cellsOf(form).filter(isChanged);
        if (cells.length) save(cells);
      });
    }
  }

  // --- everything in its place -------------------------------------------------------------------------

  addEventListener("pageshow", (event) => {
    if (event.persisted) {
      location.reload(); // a page that comes back from the browser's memory is fresh
    }
  });

  // A file that falls beside its place is not opened in the page's.
  for (const name of ["dragover", "drop"]) {
    document.addEventListener(name, (event) => {
      if (event.defaultPrevented || !event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "none";
    });
  }

  document.querySelectorAll("form[data-upload]").forEach(uploads);
  document.querySelectorAll("[data-follow]").forEach(follow);
  document.querySelectorAll("[data-live]").forEach(live);
  document.querySelectorAll('form[method="post"]:not([data-upload]):not([data-correct])').forEach(once);
  corrected(document);

  document.querySelector(".top nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

  // What is wider than its place is pushed by the keyboard as well.
  const wide = new ResizeObserver((seen) => {
    for (const { target } of seen) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  for (const element of document.querySelectorAll(".scroll")) wide.observe(element);

  // What went wrong is what a reader of the screen should hear first.
  const problem = document.querySelector("main .problem[role=alert]");
  if (problem) {
    problem.tabIndex = -1;
    problem.focus();
  }
})();
