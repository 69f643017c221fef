import type { ModelFile } from './schema'
import type { ModelKind } from './types'

/** A model's entry of any kind, in the shape of a chat model's. */
export type AnyModelFile = Omit<ModelFile, 'kind'> & { kind?: ModelKind }
