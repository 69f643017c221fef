/** All cases of the matrix, in the order of the table. */
import type { Group } from '@test/matrix/types'
import { answers } from './answers'
import { caching } from './caching'
import { conversation } from './conversation'
import { dialects } from './dialects'
import { errors } from './errors'
import { limits } from './limits'
import { media } from './media'
import { moreDialects } from './more-dialects'
import { nativeOnly } from './native'
import { output } from './output'
import { reasoning } from './reasoning'
import { streams } from './streams'
import { toolChoice } from './tool-choice'
import { tools } from './tools'

export const GROUPS: readonly Group[] = [
  conversation,
  tools,
  toolChoice,
  media,
  limits,
  output,
  reasoning,
  caching,
  answers,
  streams,
  dialects,
  moreDialects,
  errors,
  nativeOnly,
]

/** Groups about what providers do, in which nothing is lost between formats. */
export const PROVIDERS_ALONE: readonly Group[] = [streams, dialects, moreDialects, errors]
