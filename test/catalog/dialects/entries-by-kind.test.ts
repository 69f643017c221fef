/** One provider entry for each way to reach a cloud: all are valid and called at the right address. */
import { expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { variable } from '@test/catalog/sample-catalog'
import { targetOfEntry } from '@test/dialects/provider-entry'
import { endpointUrl } from '@/upstream/endpoints'

const AWS = 'amazonaws.com'
/** By name: the entry, and the address of a call. */
const ENTRIES: Readonly<Record<string, [entry: object, address: string]>> = {
  azure: [
    {
      format: 'chat-completions',
      baseUrl: 'https://RES.openai.azure.com/openai/v1',
      auth: { type: 'header', name: 'api-key' },
      keys: [variable('AZURE_KEY')],
    },
    'https://RES.openai.azure.com/openai/v1/chat/completions',
  ],
  'azure-e': [
    {
      format: 'responses',
      baseUrl: 'https://RES.openai.azure.com/openai/v1',
      auth: { type: 'entra', tenant: 't', clientId: 'c', clientSecret: variable('SECRET') },
    },
    'https://RES.openai.azure.com/openai/v1/responses',
  ],
  'azure-d': [
    {
      format: 'chat-completions',
      dialect: 'azure-openai',
      baseUrl: 'https://RES.openai.azure.com',
      apiVersion: '2024-10-21',
      auth: { type: 'header', name: 'api-key' },
      keys: ['k'],
    },
    'https://RES.openai.azure.com/openai/deployments/the-model/chat/completions?api-version=2024-10-21',
  ],
  foundry: [
    { format: 'messages', baseUrl: 'https://RES.services.ai.azure.com/anthropic', keys: ['k'] },
    'https://RES.services.ai.azure.com/anthropic/v1/messages',
  ],
  'br-chat': [
    {
      format: 'chat-completions',
      baseUrl: `https://bedrock-runtime.us-west-2.${AWS}/openai/v1`,
      auth: { type: 'bearer' },
      keys: [variable('AWS_BEARER_TOKEN_BEDROCK')],
    },
    `https://bedrock-runtime.us-west-2.${AWS}/openai/v1/chat/completions`,
  ],
  'br-msg': [
    {
      format: 'messages',
      baseUrl: `https://bedrock-runtime.us-west-2.${AWS}/anthropic`,
      auth: { type: 'aws', service: 'bedrock', region: 'us-west-2' },
    },
    `https://bedrock-runtime.us-west-2.${AWS}/anthropic/v1/messages`,
  ],
  'br-inv': [
    {
      format: 'messages',
      dialect: 'bedrock-invoke',
      baseUrl: `https://bedrock-runtime.eu-west-1.${AWS}`,
      auth: { type: 'aws', region: 'eu-west-1' },
    },
    `https://bedrock-runtime.eu-west-1.${AWS}/model/the-model/invoke`,
  ],
  'br-conv': [
    {
      format: 'chat-completions',
      dialect: 'bedrock-converse',
      baseUrl: `https://bedrock-runtime.eu-west-1.${AWS}`,
      auth: { type: 'aws', region: 'eu-west-1' },
    },
    `https://bedrock-runtime.eu-west-1.${AWS}/model/the-model/converse`,
  ],
  'vx-gem': [
    {
      format: 'generate-content',
      dialect: 'vertex',
      baseUrl: 'https://aiplatform.googleapis.com',
      apiVersion: 'v1',
      project: 'p',
      location: 'global',
      auth: { type: 'google' },
    },
    'https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models/the-model:generateContent',
  ],
  'vx-ant': [
    {
      format: 'messages',
      dialect: 'vertex-raw',
      baseUrl: 'https://aiplatform.googleapis.com',
      project: 'p',
      location: 'global',
      auth: { type: 'google', credentials: variable('GOOGLE_SA_JSON') },
    },
    'https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/anthropic/models/the-model:rawPredict',
  ],
  'vx-oai': [
    {
      format: 'chat-completions',
      baseUrl: 'https://aiplatform.googleapis.com/v1/projects/p/locations/global/endpoints/openapi',
      auth: { type: 'google' },
    },
    'https://aiplatform.googleapis.com/v1/projects/p/locations/global/endpoints/openapi/chat/completions',
  ],
  local: [
    {
      format: 'chat-completions',
      baseUrl: 'http://127.0.0.1:11434/v1',
      auth: { type: 'none' },
      quirks: ['max_tokens'],
    },
    'http://127.0.0.1:11434/v1/chat/completions',
  ],
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const private_key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const ENVIRONMENT = {
  ...{ AZURE_KEY: 'k', SECRET: 's', AWS_BEARER_TOKEN_BEDROCK: 'b' },
  GOOGLE_SA_JSON: JSON.stringify({ type: 'service_account', client_email: 'a@p.example', private_key }),
}

test.each(Object.entries(ENTRIES))(
  'E1: the provider entry %s is loaded, and called at its address',
  (_, [entry, address]) => {
    const target = targetOfEntry({ ...entry }, 'the-model', ENVIRONMENT)
    expect(endpointUrl(target, false)).toBe(address)
  },
)

test('E16: Converse gets the messages format, whichever format its entry names', () => {
  const [entry] = ENTRIES['br-conv'] ?? []
  expect(targetOfEntry({ ...entry }).provider.format).toBe('messages')
})
