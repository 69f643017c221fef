/** All dialects by name: the only place that knows them all. */
import { azureOpenAi } from './azure/azure-openai'
import type { DialectKind, DialectName } from './dialect'

export const DIALECTS: Readonly<Record<DialectName, DialectKind>> = { 'azure-openai': azureOpenAi }
