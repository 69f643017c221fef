/** All dialects by name, and all that authorizes without keys: the only place that knows them all. */
import { awsAuth } from './aws/aws-auth'
import { azureOpenAi } from './azure/azure-openai'
import { entra } from './azure/entra'
import type { DialectKind, DialectName } from './dialect'
import { googleAuth } from './google/google-auth'
import { vertex } from './google/vertex'

export const DIALECTS: Readonly<Record<DialectName, DialectKind>> = {
  'azure-openai': azureOpenAi,
  vertex,
}

export { awsAuth, entra, googleAuth }
