/** All dialects by name, and all authorizers that need no key. No other file lists them. */

import { vertex, vertexRaw } from '@/dialects/google/vertex'
import { awsAuth } from './aws/aws-auth'
import { bedrockConverse } from './aws/bedrock-converse'
import { bedrockEmbed } from './aws/bedrock-embed'
import { bedrockInvoke } from './aws/bedrock-invoke'
import { azureOpenAi } from './azure/azure-openai'
import { entra } from './azure/entra'
import { bedrockMantle, foundry } from './claude-clouds'
import type { DialectKind, DialectName } from './dialect'
import { googleAuth } from './google/google-auth'

export const DIALECTS: Readonly<Record<DialectName, DialectKind>> = {
  'azure-openai': azureOpenAi,
  'bedrock-converse': bedrockConverse,
  'bedrock-embed': bedrockEmbed,
  'bedrock-invoke': bedrockInvoke,
  'bedrock-mantle': bedrockMantle,
  foundry,
  vertex,
  'vertex-raw': vertexRaw,
}

export { awsAuth, entra, googleAuth }
