/**
 * The tool runners of the real client libraries, with providers of every format. Those of the messages family first ask for a
 * conversation that is kept at the provider.
 */
import { LIBRARIES } from './libraries/index'
import { describeToolRunners } from './tool-runners'

describeToolRunners(LIBRARIES)
