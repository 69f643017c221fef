import type { ModelFile } from './schema'
import type { ModelKind } from './types'

/** The catalogue entry of a model of any kind, in the shape of a chat model's entry. */
export type AnyModelFile = Omit<ModelFile, 'kind'> & { kind?: ModelKind }
