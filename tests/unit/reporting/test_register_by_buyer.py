"""The buyers of a register: told apart, and each with a register of its own."""

from pipeline.reporting.register_by_buyer import buyer_numbers, names_by_buyer, split_by_buyer
from tests.unit.reporting.registers import ONE, SEEN, made


def test_buyers_of_one_name_are_told_apart() -> None:
    other = ONE._replace(tax_no="91310000600037341L")
    person = ONE._replace(tax_no="")
    assert buyer_numbers([ONE, other, ONE._replace(buyer=" acme ")]) == [1, 2, 1]
    assert buyer_numbers([person, person._replace(phone="13900139000"), person]) == [1, 2, 1]
    assert buyer_numbers([SEEN, ONE]) == [1, 1]
    assert buyer_numbers([SEEN, ONE, other]) == [1, 2, 3]  # whose it is can't be told
    split = list(split_by_buyer(made([ONE, other, ONE])))
    assert [(one.of_buyer, len(one.lines)) for one in split] == [(1, 2), (2, 1)]


def test_no_two_buyers_workbooks_have_one_name() -> None:
    others = [
        ONE._replace(buyer=name, tax_no=f"9131000060003734{n}")
        for n, name in enumerate(("ACME", "Acme", "a/b", ""))
    ]
    registers = [*split_by_buyer(made([ONE, *others]))]
    names = [name for _, name in names_by_buyer(registers, "register", "en")]
    assert names == [
        "register-Acme",
        "register-ACME-2",
        "register-Acme-3",
        "register-a_b",
        "register-(no buyer)",
    ]
    masked = [*split_by_buyer(made([ONE, *others], masked=True))]
    assert [name for _, name in names_by_buyer(masked, "r", "en")] == [f"r-buyer-{n}" for n in range(1, 6)]
