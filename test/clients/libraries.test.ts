/**
 * The real client libraries, the newest major and the one before it, against every provider format: only the key and the base
 * address are theirs to change. Takes long: every library in two majors against every format.
 */
import { LIBRARIES } from './libraries/index'
import { describeLibraries } from './suite'

describeLibraries(LIBRARIES)
