"""Charts as the tests read them: held against the schema of Vega-Lite, with their data as rows."""

import json
from typing import Any

import altair as alt
import jsonschema
import pyarrow as pa

from evaluator.charts.vega import Chart

VEGA_LITE = jsonschema.Draft7Validator(alt.load_schema())


def specification(chart: Chart) -> dict[str, Any]:
    """The specification as strict JSON, its datasets as lists of rows; fails when it is none of Vega-Lite."""
    datasets = {name: pa.ipc.open_stream(content).read_all().to_pylist() for name, content in chart.data.items()}
    spec: dict[str, Any] = json.loads(json.dumps({**chart.spec, "datasets": datasets}, default=str))
    json.dumps(spec, allow_nan=False)
    # Any rows make a dataset.
    VEGA_LITE.validate({**spec, "datasets": {name: rows[:1] for name, rows in datasets.items()}})
    return spec
