/**
 * The tool runners of the real client libraries, with providers of every format. Those of messages first ask for a
 * conversation that the provider keeps.
 */
import { LIBRARIES } from './libraries/index'
import { describeToolRunners } from './tool-runners'

describeToolRunners(LIBRARIES)
