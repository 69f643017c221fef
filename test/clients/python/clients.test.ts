/** The official client libraries for Python against every provider format: `openai`, `anthropic` and `google-genai`. */
import { describeRecorded } from '@test/clients/recorded/describe'
import { describeLibraries } from '@test/clients/suite'
import { describeToolRunners } from '@test/clients/tool-runners'
import { describeFeatures } from './features'
import { describeMatrix } from './matrix'
import { openPythonLibraries } from './open'

const libraries = await openPythonLibraries()
if (libraries.length > 0) {
  describeLibraries(libraries)
  describeToolRunners(libraries)
  describeFeatures(libraries)
  describeMatrix(libraries)
  describeRecorded(libraries)
}
