// The page of a run's report: lays out the data that is in it. Text goes into text nodes alone, whatever it says.
import { render } from "preact";
import type { Report } from "./data";
import { follow } from "./links";
import { ReportPage } from "./sections";
import { watchTheme } from "./theme";

const data = document.getElementById("data")?.textContent;
const root = document.getElementById("report");
if (data !== undefined && root !== null) {
  watchTheme();
  follow(root);
  render(<ReportPage report={JSON.parse(data) as Report} />, root);
}
