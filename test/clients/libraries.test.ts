/**
 * The real client libraries, in their newest and previous major version, against every provider format, with only key
 * and base address changed. Slow: every pair.
 */
import { LIBRARIES } from './libraries/index'
import { describeLibraries } from './suite'

describeLibraries(LIBRARIES)
