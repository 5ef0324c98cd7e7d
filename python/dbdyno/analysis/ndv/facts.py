"""What the catalogue says, from its plain document: only what the analysis goes by."""

from __future__ import annotations

import dataclasses

from dbdyno.analysis.documents import Document

# Files that are one table, beside the kinds of relations.
FILES = "files"
# Until 16 the planner does not see the indexes of a partitioned table as a whole.
_PARTITIONED_INDEXES_SINCE = 160000


@dataclasses.dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """What pg_stats says of a column; see `ndv.postgres.statistics`."""

    n_distinct: float
    null_share: float
    width_bytes: int
    common_values: int
    common_share: float
    least_common_share: float | None
    correlation: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class RowOrder:
    """What tells whether rows lie in the order of a column's values, and why.

    `correlation` of the values with the places of their rows, None where nobody knows. `counts_up`: values come from a
    sequence, or tell the time.
    """

    unique: bool
    clustered: bool
    correlation: float | None
    counts_up: bool


@dataclasses.dataclass(frozen=True, slots=True)
class KeyFacts:
    """What tells whether a column refers to another, or may be referred to: of a source of any kind."""

    quoted: str
    unique: bool
    refers_to: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What the catalogue says of a column; see `ndv.postgres.columns`.

    `believed_unique`: whether the planner goes by a unique index. `override` is the option that ANALYZE would go by.
    `target` 0: ANALYZE passes the column over.
    """

    name: str
    quoted: str
    type: str
    boolean: bool
    in_time: bool
    believed_unique: bool
    unique: bool
    indexed: bool
    clustered: bool
    virtual: bool
    arrival: bool
    refers_to: str | None
    referred_to: bool
    override: str | None
    target: int
    statistics: ColumnStatistics | None

    @property
    def order(self) -> RowOrder:
        """How its rows lie, as far as that is known."""
        correlation = None if self.statistics is None else self.statistics.correlation
        return RowOrder(self.unique, self.clustered, correlation, counts_up=self.arrival or self.in_time)


@dataclasses.dataclass(frozen=True, slots=True)
class RelationFacts:
    """What the catalogue says of the relation; `inherited`: its statistics are those of the tree below it."""

    quoted: str
    schema_quoted: str
    name: str
    kind: str
    inherited: bool
    pages: int
    planner_rows: float
    rows_per_day: float | None
    server_version: int
    has_statistics: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """What of the planner's settings matters here."""

    hash_memory_bytes: float
    random_page_cost: float
    seq_page_cost: float
    cpu_tuple_cost: float
    cpu_index_tuple_cost: float
    cpu_operator_cost: float


def relation_facts(catalogue: Document) -> RelationFacts:
    """Of the relation."""
    relation = catalogue["relation"]
    days = relation["counted_days"]
    gained = relation["inserted_rows"] - relation["deleted_rows"]
    return RelationFacts(
        quoted=relation["quoted"],
        schema_quoted=relation["schema_quoted"],
        name=relation["name"],
        kind=relation["kind"],
        inherited=relation["tree"],
        pages=relation["pages"],
        planner_rows=relation["planner_rows"],
        # A day at least: a bulk load of an hour ago says nothing of the days to come.
        rows_per_day=gained / days if days is not None and days >= 1 and gained > 0 else None,
        server_version=catalogue["server_version"],
        has_statistics=relation["kind"] != "view",
    )


def column_facts(catalogue: Document, name: str) -> ColumnFacts:
    """Of one column, with the statistics that the planner uses for the relation as a whole."""
    relation = relation_facts(catalogue)
    column = next(one for one in catalogue["columns"] if one["name"] == name)
    found = [one for one in catalogue["statistics"] if one["column"] == name and one["inherited"] == relation.inherited]
    partitioned = relation.kind == "partitioned" and relation.server_version >= _PARTITIONED_INDEXES_SINCE
    base_schema, base_name = column["base_type"]
    return ColumnFacts(
        name=name,
        quoted=column["quoted"],
        type=column["type"],
        boolean=(base_schema, base_name) == ("pg_catalog", "bool"),
        in_time=base_schema == "pg_catalog" and base_name in ("date", "timestamp", "timestamptz"),
        believed_unique=column["unique"] and (not relation.inherited or partitioned),
        unique=column["unique"] and (not relation.inherited or relation.kind == "partitioned"),
        indexed=column["indexed"],
        clustered=column["clustered"],
        virtual=column["virtual"],
        arrival=column["arrival"],
        refers_to=column["refers_to"],
        referred_to=column["referred_to"],
        override=column["override_inherited" if relation.inherited else "override"],
        target=catalogue["settings"]["default_statistics_target"] if column["target"] is None else column["target"],
        statistics=ColumnStatistics(*(found[0][field.name] for field in dataclasses.fields(ColumnStatistics)))
        if found
        else None,
    )


def key_facts(catalogue: Document, name: str) -> KeyFacts:
    """Of one column; without a planner the source's document has just that."""
    if catalogue["server_version"] is None:
        column = next(one for one in catalogue["columns"] if one["name"] == name)
        return KeyFacts(column["quoted"], column["unique"], column["refers_to"])
    facts = column_facts(catalogue, name)
    return KeyFacts(facts.quoted, facts.unique, facts.refers_to)


def table_label(catalogue: Document) -> str:
    """What stands before a column's name: the table as SQL writes it; of files a name and no pattern."""
    relation = catalogue["relation"]
    return str(relation["name"] if relation["kind"] == FILES else relation["quoted"])


def settings(catalogue: Document) -> Settings:
    """Of the session that read the catalogue."""
    found = catalogue["settings"]
    return Settings(
        hash_memory_bytes=found["work_mem_bytes"] * found["hash_mem_multiplier"],
        **{field.name: found[field.name] for field in dataclasses.fields(Settings)[1:]},
    )
