"""Which column refers to which: only the decision, from counts of what two samples have in common."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from counted_values import outcome
from described_table import described

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.ndv.analyse import analyse, with_foreign_keys
from dbdyno.analysis.ndv.foreign_keys import KeyColumn, Overlap, foreign_keys, orphan_share
from dbdyno.analysis.ndv.overlapping import overlap_of, overlaps

CHILD = KeyColumn("orders", "customer_id", "orders.customer_id", "bigint", 50_000, unique=False)
PARENT = KeyColumn("customers", "id", "customers.id", "bigint", 100_000, unique=True)
CONTAINED = Overlap(CHILD, PARENT, compared=500, common=500, exact=False, declared=False)


def replaced(
    child: dict[str, object] | None = None, parent: dict[str, object] | None = None, **keys: object
) -> Overlap:
    """`CONTAINED` with other figures."""
    return dataclasses.replace(
        CONTAINED,
        child=dataclasses.replace(CHILD, **(child or {})),
        parent=dataclasses.replace(PARENT, **(parent or {})),
        **keys,
    )


def test_a_key_by_its_values_and_its_name() -> None:
    """No orphan among 500 values leaves at most 0.74 % (3 / n, nearly)."""
    (hint,) = foreign_keys([CONTAINED])

    assert (hint.column, hint.refers_to, hint.standing) == ("orders.customer_id", "customers.id", "likely")
    assert (hint.orphans.estimate, hint.orphans.low, hint.coverage) == (0.0, 0.0, 0.5)
    assert hint.orphans.high == pytest.approx(1 - 0.025 ** (1 / 500))


def test_orphans_and_their_interval() -> None:
    """Clopper and Pearson's for 5 of 500 (its tabulated limits are 0.33 % and 2.32 %)."""
    share = orphan_share(replaced(common=495))

    assert share.estimate == 0.01
    assert share.low == pytest.approx(0.00325, abs=1e-5)
    assert share.high == pytest.approx(0.02319, abs=1e-5)


def test_known_as_a_whole() -> None:
    """There is nothing to be in doubt about."""
    assert orphan_share(replaced(compared=40, common=39, exact=True)) == Estimate(0.025, 0.025, 0.025)


@pytest.mark.parametrize(
    ("overlap", "expected"),
    [
        (replaced({"name": "amount", "ndv": 100.0}), "possible"),
        (replaced({"name": "amount", "ndv": 100.0, "type": "uuid"}, {"type": "uuid"}), "likely"),
        (replaced({"type": "integer"}), "likely"),
        (replaced({"type": "date"}), None),
        (replaced({"name": "buyer", "ndv": 30_000.0}), "likely"),
        (replaced({"name": "buyer", "ndv": 30_000.0}, {"table": "orders"}), "possible"),
        (replaced({"name": "parent_id"}, {"table": "orders"}), "likely"),
        (replaced({"name": "parentId"}, {"table": "orders"}), "likely"),
        (replaced({"name": "paid"}, {"table": "orders"}), "possible"),
        (replaced({"name": "buyer"}, declared=True), "declared"),
        (replaced({"name": "amount"}, common=440), None),
        (replaced({"name": "amount"}, common=440, declared=True), "declared"),
        (replaced(parent={"unique": False}), None),
        (replaced({"label": "customers.id"}), None),
        (replaced(compared=5, common=5, exact=True), "likely"),
        (replaced({"name": "amount"}, compared=5, common=5, exact=True), None),
        (replaced(compared=0, common=0), None),
    ],
    ids=[
        *(
            "small numbers",
            "no numbers",
            "narrower numbers",
            "days and numbers",
            "many of the values",
            *(
                "many of its own table's",
                "as a key is called",
                "as a key is called elsewhere",
                "a word that ends alike",
            ),
            "a constraint",
            "too many orphans",
        ),
        *("a constraint with orphans", "nothing unique", "itself", "few values, a name", "few values", "no values"),
    ],
)
def test_standing(overlap: Overlap, expected: str | None) -> None:
    """Contained values prove little where something else does not agree."""
    hints = foreign_keys([overlap])

    assert [hint.standing for hint in hints] == ([expected] if expected else [])


def test_the_firmest_first() -> None:
    """Constraints, then what is likely, then what is possible."""
    amount = replaced({"name": "amount", "label": "orders.amount", "ndv": 100.0})

    hints = foreign_keys([amount, CONTAINED, replaced(declared=True)])

    assert [hint.standing for hint in hints] == ["declared", "likely", "possible"]


def test_two_keys_that_count_up() -> None:
    """They have each other's values by their nature; a name, a constraint or another type says more."""
    key = {"name": "id", "label": "orders.id", "unique": True}

    assert foreign_keys([replaced(key)]) == []
    assert [hint.standing for hint in foreign_keys([replaced({**key, "type": "uuid"}, {"type": "uuid"})])] == ["likely"]
    assert [hint.standing for hint in foreign_keys([replaced(key, declared=True)])] == ["declared"]
    assert [hint.standing for hint in foreign_keys([replaced({"unique": True})])] == ["likely"]


def test_what_a_name_tells_is_not_doubted() -> None:
    """The values of customer_id are contained in a longer key, too."""
    products = replaced(parent={"table": "products", "label": "products.id"})

    assert [hint.refers_to for hint in foreign_keys([products])] == ["products.id"]
    assert [hint.refers_to for hint in foreign_keys([products, CONTAINED])] == ["customers.id"]


def test_pairs_of_columns_of_two_files() -> None:
    """Both ways, as far as they may be keys; a key by its index, a reference by a constraint, no groups."""
    numbers = np.arange(100)
    orders = described(customer_id={"refers_to": "public.customers.id"})
    orders["relation"] |= {"name": "orders", "quoted": "public.orders"}
    customers = described(id={"unique": True})
    customers["relation"] |= {"name": "customers", "quoted": "public.customers"}
    scan = {"via": "copy", "where": None, "in_order": True, "groups": [], "not_counted": []}
    tables = [
        (orders, analyse(orders, scan, outcome({"customer_id": numbers % 50}, 10))),
        (customers, analyse(customers, scan, outcome({"id": numbers}, 10))),
    ]
    pair = {"first": [0, 0], "second": [1, 0], "seen_of_first": 50, "seen_of_second": 100, "common": 48, "exact": True}

    of_orders, of_customers = overlaps([pair, pair | {"second": [1, 1]}], tables)

    assert [(one.child.label, one.parent.label, one.compared, one.declared) for one in of_orders] == [
        ("public.orders.customer_id", "public.customers.id", 50, True)
    ]
    elsewhere = described(customer_id={"refers_to": "public.people.id"})
    elsewhere["relation"] |= {"name": "orders", "quoted": "public.orders"}
    assert overlaps([pair], [(elsewhere, tables[0][1]), tables[1]]) == [[], []]  # a constraint says where it refers to
    assert of_customers == []  # nothing refers to a column whose values come twice
    assert [overlap_of(json.loads(json.dumps(dataclasses.asdict(one)))) for one in of_orders] == of_orders
    (hint,) = foreign_keys(of_orders)
    assert (hint.standing, hint.orphans.estimate, hint.coverage) == ("declared", 0.04, 0.5)
    assert with_foreign_keys(tables[0][1], [hint]).foreign_keys == [hint]
