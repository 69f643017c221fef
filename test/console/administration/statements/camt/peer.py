"""Judges CAMT.053 statements: each line of the input is one as JSON text; the answer has the schema's faults, and the entries as camt053 reads them."""
import importlib.util
import json
import os
import sys
import types

import xmlschema

# The package's own start loads a web server and templates, which nothing here needs.
package = types.ModuleType("camt053")
package.__path__ = importlib.util.find_spec("camt053").submodule_search_locations
sys.modules["camt053"] = package
from camt053.parse.statement_parser import parse_document  # noqa: E402

schemas = {}


def schema_of(version):
    if version not in schemas:
        path = os.path.join(package.__path__[0], "xsd", f"camt.053.001.{version}.xsd")
        schemas[version] = xmlschema.XMLSchema(path)
    return schemas[version]


for line in sys.stdin:
    xml = json.loads(line)
    version = xml.split("camt.053.001.")[1][:2]
    faults = [fault.reason for fault in schema_of(version).iter_errors(xml)]
    entries = [
        {
            "amount": str(entry.amount_decimal),
            "currency": entry.currency,
            "isCredit": entry.credit_debit_indicator == "CRDT",
            "status": entry.status,
            "isReversal": entry.reversal_indicator,
            "bankReference": entry.account_servicer_ref,
        }
        for entry in parse_document(xml).all_entries()
    ]
    print(json.dumps({"faults": faults, "entries": entries}))
