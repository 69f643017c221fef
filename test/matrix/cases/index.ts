/** All cases of the matrix, in the order of the table. */
import type { Group } from '@test/matrix/types'
import { conversation } from './conversation'
import { limits } from './limits'
import { media } from './media'
import { output } from './output'
import { toolChoice } from './tool-choice'
import { tools } from './tools'

export const GROUPS: readonly Group[] = [conversation, tools, toolChoice, media, limits, output]
