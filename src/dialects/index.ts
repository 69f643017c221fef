/** All dialects by name, and all that authorizes without keys: the only place that knows them all. */
import { azureOpenAi } from './azure/azure-openai'
import { entra } from './azure/entra'
import type { DialectKind, DialectName } from './dialect'

export const DIALECTS: Readonly<Record<DialectName, DialectKind>> = { 'azure-openai': azureOpenAi }

export { entra }
