/** Dialect and credential settings of a provider entry: each mistake is reported with its place. */
import { expect, test } from 'bun:test'
import { faultsOf, type Json, load, spoil } from '@test/catalog/sample-catalog'
import { providerAddresses } from '@/routing/health/health-exchange'
import { isSameUpstream } from '@/routing/health/renewal'

const AUTH_FORMS =
  '{"type": "bearer"}, {"type": "header", "name": …}, {"type": "none"}, or {"type": "entra"} with "tenant", "clientId" and either "clientSecret" or "federatedTokenFile", or with "managedIdentity": true, or {"type": "google"} with "credentials", or else as what the metadata server knows, or {"type": "aws"} with "region" and, unless they are the environment’s, "accessKeyId" and "secretAccessKey", "profile" and "credentialsFile", "roleArn" and "webIdentityTokenFile", "container", or "instance": true'

/** [provider, what its entry says differently, the one fault it makes] */
const CASES: [string, Json & object, string][] = [
  [
    'provider1',
    { dialect: 'azure' },
    'dialect: expected one of azure-openai, bedrock-converse, bedrock-embed, bedrock-invoke, bedrock-mantle, foundry, vertex, vertex-raw',
  ],
  [
    'provider2',
    { dialect: 'azure-openai', apiVersion: '2024-10-21' },
    'dialect: azure-openai is no dialect of messages; expected format chat-completions or responses',
  ],
  ['provider1', { dialect: 'azure-openai' }, 'apiVersion: is missing; expected a version such as 2024-10-21'],
  ['provider1', { dialect: 'azure-openai', apiVersion: 'v1' }, 'apiVersion: expected a version such as 2024-10-21'],
  ['provider1', { auth: { type: 'secret' } }, `auth: expected ${AUTH_FORMS}`],
  ['provider1', { auth: { type: 'header', name: 'x y' } }, `auth: expected ${AUTH_FORMS}`],
  ['provider1', { auth: { type: 'header', name: 'Content-Type' } }, 'auth.name: is a header that can carry no key'],
  [
    'provider1',
    { auth: { type: 'header', name: 'Api-Key' }, headers: { 'api-key': 'b' } },
    'headers.api-key: is set by the gateway itself',
  ],
  ['provider1', { auth: { type: 'none' } }, 'keys: must not be there beside auth of type none'],
  [
    'provider1',
    { auth: { type: 'entra', managedIdentity: true } },
    'keys: must not be there beside auth of type entra',
  ],
  [
    'provider1',
    {
      auth: { type: 'entra', tenant: 't', clientId: 'c', clientSecret: 's', federatedTokenFile: 'f' },
      keys: undefined,
    },
    `auth: expected ${AUTH_FORMS}`,
  ],
  ['provider1', { project: 'p' }, 'project: only a provider of dialect vertex or vertex-raw has one'],
  [
    'provider3',
    { dialect: 'vertex', project: 'p' },
    'location: is missing; a provider of dialect vertex has a project and a location',
  ],
  [
    'provider3',
    { dialect: 'vertex', auth: { type: 'google' }, keys: undefined },
    'project: is missing; a provider of dialect vertex has a project and a location',
  ],
  [
    'provider2',
    { dialect: 'vertex-raw' },
    'project: is missing; a provider of dialect vertex-raw has a project and a location',
  ],
  [
    'provider1',
    { dialect: 'vertex-raw' },
    'dialect: vertex-raw is no dialect of chat-completions; expected format messages',
  ],
  ['provider1', { keys: undefined }, 'keys: is missing; expected a list of at least one key'],
]

test.each(CASES)(
  'a catalogue in which the provider %s has the settings %j is refused at the start',
  (name, more, fault) => {
    const text = JSON.parse(spoil('surprise', undefined)) as { providers: Record<string, object> }
    text.providers[name] = { ...text.providers[name], ...more }
    expect(faultsOf(JSON.stringify(text))).toEqual([`providers.${name}.${fault}`])
  },
)

test('one host in two dialects counts as two upstreams with separate health', () => {
  const entry = { format: 'chat-completions', baseUrl: 'https://one.example/v1', keys: ['key-one'] }
  const plain = load(spoil('providers.provider1', entry))
  const dated = load(spoil('providers.provider1', { ...entry, dialect: 'azure-openai', apiVersion: '2024-10-21' }))
  const [before, after] = [plain, dated].map(({ providers }) => providers.get('provider1'))
  if (!before || !after) throw new Error('both are offered')
  expect(isSameUpstream(before, after)).toBe(false)
  expect(isSameUpstream(before, { ...before })).toBe(true)
  const addresses = [plain, dated].map((catalog) => providerAddresses(catalog).get('provider1'))
  expect(addresses[0]).not.toBe(addresses[1])
})
