# SPDX-License-Identifier: BSD-3-Clause
"""Whether JSON results are as the schema says: validate.py SCHEMA FILE...

Before that, whether the schema gives each name one type, whatever object it is a member of.

The part of JSON Schema (draft 7) that bin/xgemm.schema.json uses, so that the tests need no module
for it; another keyword is an error. Stricter in one point: a member that the schema does not name
is wrong, since it is not documented then.
"""
import json
import re
import sys

TYPES = {
    "string": lambda x: isinstance(x, str),
    "integer": lambda x: isinstance(x, int) and not isinstance(x, bool),
    "number": lambda x: isinstance(x, (int, float)) and not isinstance(x, bool),
    "boolean": lambda x: isinstance(x, bool),
    "object": lambda x: isinstance(x, dict),
    "array": lambda x: isinstance(x, list),
    "null": lambda x: x is None,
}
WITHOUT_MEANING = {"$schema", "title", "description", "definitions"}


class Validator:
    def __init__(self, schema):
        self.root = schema

    def check(self, value, schema, place):
        """The faults of a value, and the names of members that the schema knows."""
        faults, known = [], set()
        for keyword, argument in schema.items():
            if keyword in WITHOUT_MEANING or keyword == "then":
                continue
            function = getattr(self, "on_" + keyword.strip("$"), None)
            if function is None:
                raise ValueError("the keyword %s is not known here" % keyword)
            more, names = function(value, argument, schema, place)
            faults += more
            known |= names
        return faults, known

    def whole(self, value, schema, place):
        """The same for a value with its own schema, where all members have to be known."""
        faults, known = self.check(value, schema, place)
        if isinstance(value, dict):
            faults += ["%s.%s is not in the schema" % (place, x) for x in value if x not in known]
        return faults

    def on_ref(self, value, argument, _, place):
        return self.check(value, self.root["definitions"][argument.split("/")[-1]], place)

    def on_type(self, value, argument, _, place):
        names = argument if isinstance(argument, list) else [argument]
        good = any(TYPES[name](value) for name in names)
        return ([] if good else ["%s is %r, not %s" % (place, value, " or ".join(names))]), set()

    def on_const(self, value, argument, _, place):
        return ([] if value == argument else ["%s is %r, not %r" % (place, value, argument)]), set()

    def on_enum(self, value, argument, _, place):
        return ([] if value in argument else ["%s is %r, none of %s" % (place, value, argument)]), set()

    def on_pattern(self, value, argument, _, place):
        good = not isinstance(value, str) or re.search(argument, value)
        return ([] if good else ["%s is %r, not %s" % (place, value, argument)]), set()

    def on_required(self, value, argument, _, place):
        missing = [x for x in argument if isinstance(value, dict) and x not in value]
        return ["%s.%s is missing" % (place, x) for x in missing], set()

    def on_properties(self, value, argument, _, place):
        faults = []
        if isinstance(value, dict):
            for name, schema in argument.items():
                if name in value:
                    faults += self.whole(value[name], schema, "%s.%s" % (place, name))
        return faults, set(argument)

    def on_items(self, value, argument, _, place):
        faults = []
        if isinstance(value, list):
            for index, item in enumerate(value):
                faults += self.whole(item, argument, "%s[%d]" % (place, index))
        return faults, set()

    def on_minItems(self, value, argument, _, place):
        good = not isinstance(value, list) or len(value) >= argument
        return ([] if good else ["%s has too few items" % place]), set()

    def on_maxItems(self, value, argument, _, place):
        good = not isinstance(value, list) or len(value) <= argument
        return ([] if good else ["%s has too many items" % place]), set()

    def on_allOf(self, value, argument, _, place):
        faults, known = [], set()
        for schema in argument:
            more, names = self.check(value, schema, place)
            faults += more
            known |= names
        return faults, known

    def on_anyOf(self, value, argument, _, place):
        first = None
        for schema in argument:
            faults, known = self.check(value, schema, place)
            unknown = [x for x in value if x not in known] if isinstance(value, dict) else []
            if not faults and not unknown:
                return [], known
            first = first or (faults, known)
        return first

    def on_if(self, value, argument, schema, place):
        if self.check(value, argument, place)[0]:
            return [], set()
        return self.check(value, schema.get("then", {}), place)


def types_of(schema, root):
    """The types that a value may have but for null; an integer is a number here."""
    if "$ref" in schema:
        return types_of(root["definitions"][schema["$ref"].split("/")[-1]], root)
    if "anyOf" in schema:
        return set().union(*(types_of(one, root) for one in schema["anyOf"]))
    if "type" in schema:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    else:
        values = schema.get("enum", [schema.get("const")])
        names = [name for name, is_one in TYPES.items() if any(is_one(x) for x in values)]
    return {"number" if name == "integer" else name for name in names} - {"null"}


def members(schema):
    """Each member that a schema names, as name and schema."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {}).items()
    for part in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(part, (dict, list)):
            yield from members(part)


def names_of_two_types(schema):
    """A sentence for each name that is of one type here and of another there."""
    first = {}
    for name, member in members(schema):
        types = types_of(member, schema)
        if not types & first.setdefault(name, types):
            yield "%s is %s and %s" % (name, "/".join(first[name]), "/".join(types))


def faults_of(schema, value):
    return Validator(schema).whole(value, schema, "result")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    wrong = False
    for fault in names_of_two_types(schema):
        print("%s: %s" % (sys.argv[1], fault), file=sys.stderr)
        wrong = True
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
        faults = faults_of(schema, value)
        try:
            import jsonschema
        except ImportError:
            jsonschema = None
        if jsonschema:
            jsonschema.Draft7Validator.check_schema(schema)
            faults += [e.message for e in jsonschema.Draft7Validator(schema).iter_errors(value)]
        for fault in faults[:5]:
            print("%s: %s" % (path, fault), file=sys.stderr)
        wrong = wrong or bool(faults)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
