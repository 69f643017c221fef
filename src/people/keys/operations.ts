/** The operations on an account's API keys, and on the rules for all of them. */
import { type Static, Type } from '@sinclair/typebox'
import { MAX_KEYS_PER_ACCOUNT } from '@/accounts/api-keys'
import { PageQuery } from '@/console/http/pages'
import { exactly } from '@/console/http/wire'
import { titled } from '@/http/openapi/titled'
import { orNull } from '@/lib/schemas'
import { operationsOver } from '@/people/operation'
import { checkSwitch, checkTransfer } from './authority'
import {
  KeyBody,
  KeyChangesBody,
  MAX_KEY_BODY_BYTES,
  NewKeyBody,
  RotationBody,
  RULES_TAKEN,
  SHOWN_RULES,
  settingsIn,
} from './bodies'
import * as commands from './commands'
import { MAX_KEY_AGE_DAYS, POLICY_AGE } from './fields'
import { AllowedAddresses } from './key-lists'
import * as keys from './keys'

const operation = operationsOver<keys.KeyDeps>()

const CreatedKey = Type.Object({
  key: Type.String({ description: 'The whole key, shown only here' }),
  item: KeyBody,
})

const list = operation('key.list', 'GET /keys', 'usage.read', 'keys:read', {
  operator: 'read',
  summary: 'List API keys',
  description: "The account's keys without deleted ones; developers see their own. A key's text is never shown again.",
  takes: PageQuery,
  gives: keys.KeyList,
  run: keys.listKeys,
})

const create = operation('key.create', 'POST /keys', 'keys.use', 'keys:write', {
  operator: 'keys',
  summary: 'Create an API key',
  description: `The answer holds the whole key, once. An account has at most ${MAX_KEYS_PER_ACCOUNT} keys (409).`,
  takes: NewKeyBody,
  maxBodyBytes: MAX_KEY_BODY_BYTES,
  gives: CreatedKey,
  commands: [commands.CREATE_COMMAND],
  run: keys.createKey,
})

const show = operation('key.show', 'GET /keys/:id', 'usage.read', 'keys:read', {
  operator: 'read',
  summary: 'Get an API key and its usage',
  description: 'With the latest 30 days, by day (UTC), and the budgets that bind it.',
  gives: keys.KeyDetail,
  versioned: ({ item }) => settingsIn(item),
  run: keys.showKey,
})

const change = operation('key.change', 'PATCH /keys/:id', 'keys.change', 'keys:write', {
  operator: 'keys',
  summary: 'Rename an API key or change its limits',
  description:
    'What is left out stays as it is. Limits hold for the next request, on every gateway. Developers lower limits (403 otherwise); who ' +
    'looks after bills changes budgets alone.',
  takes: KeyChangesBody,
  maxBodyBytes: MAX_KEY_BODY_BYTES,
  gives: KeyBody,
  versioned: settingsIn,
  commands: [...commands.CHANGE_COMMANDS, commands.RULES_COMMAND],
  run: keys.changeKey,
})

const rotate = operation('key.rotate', 'POST /keys/:id/rotate', 'keys.use', 'keys:write', {
  operator: 'keys',
  summary: 'Rotate an API key',
  description:
    'Gives the key another text, which the answer holds, once. Its id, limits, budget and history stay. The text before works for ' +
    '`overlap` more, on every gateway, and any before that ends at once.',
  takes: RotationBody,
  gives: CreatedKey,
  commands: [commands.ROTATE_COMMAND],
  run: keys.rotateKey,
})

const deactivate = operation('key.deactivate', 'POST /keys/:id/deactivate', 'keys.switchOff', 'keys:write', {
  operator: 'keys',
  summary: 'Deactivate an API key',
  description:
    'Its next request is refused (401), on every gateway. A member whose role allows no keys switches off their own, if one was kept.',
  gives: KeyBody,
  commands: [
    commands.stateCommand('deactivate', 'refuses a key on all gateways at once', (of, ...one) => of.deactivate(...one)),
  ],
  async run(context) {
    await keys.changeState(context, (of, ...one) => of.deactivate(...one), checkSwitch)
    return await keys.shownKey(context, context.params.id)
  },
})

const activate = operation('key.activate', 'POST /keys/:id/activate', 'keys.use', 'keys:write', {
  operator: 'keys',
  summary: 'Activate an API key',
  description:
    'Accepts requests of a deactivated key again. 409 `key_without_owner` if its owner is no member any more.',
  gives: KeyBody,
  commands: [commands.stateCommand('activate', 'accepts a deactivated key again', (of, ...one) => of.activate(...one))],
  async run(context) {
    await keys.changeState(context, (of, ...one) => of.activate(...one))
    return await keys.shownKey(context, context.params.id)
  },
})

const transfer = operation('key.transfer', 'POST /keys/:id/transfer', 'members.change', 'keys:write', {
  summary: 'Transfer an API key to another member',
  description:
    'Text, limits, status and history stay. 409 `key_without_owner` if the new owner is no member, or has a role without keys.',
  takes: exactly({ userId: Type.String({ minLength: 1, maxLength: 100 }) }),
  gives: KeyBody,
  commands: [commands.TRANSFER_COMMAND],
  async run(context, { userId }) {
    await keys.changeState(context, (of, id, accountId, by) => of.transfer(id, accountId, userId, by), checkTransfer)
    return await keys.shownKey(context, context.params.id)
  },
})

const remove = operation('key.delete', 'DELETE /keys/:id', 'keys.use', 'keys:write', {
  operator: 'keys',
  summary: 'Delete an API key',
  description: 'For ever, on every gateway at once. Its usage stays. The built-in key cannot be deleted (409).',
  gives: Type.Object({ deleted: Type.Literal(true) }),
  commands: [commands.stateCommand('delete', 'deletes a key permanently', (of, ...one) => of.delete(...one))],
  async run(context) {
    await keys.changeState(context, (of, ...one) => of.delete(...one))
    return { deleted: true as const }
  },
})

const Days = orNull(Type.Integer({ minimum: 1, maximum: MAX_KEY_AGE_DAYS }), { description: POLICY_AGE.words })
const Policy = titled('KeyPolicy', { ...SHOWN_RULES, maxKeyAgeDays: Days })

const policy = operation('account.key_policy.show', 'GET /key-policy', 'usage.read', 'keys:read', {
  summary: 'Get the rules for all API keys',
  description:
    'A key may be narrower: only models and providers in both lists are allowed, the rules for content of both apply, and the earlier end.',
  gives: Policy,
  versioned: (given) => given,
  run: keys.showPolicy,
})

const changePolicy = operation('account.key_policy', 'PUT /key-policy', 'limits.raise', undefined, {
  summary: 'Set the rules for all API keys',
  description:
    'What is left out stays. Holds for the next request of every key, on every gateway; the age not for the key of the playground, ' +
    'nor for the former text of a rotated key, which has an end of its own.',
  takes: exactly({ ...RULES_TAKEN, maxKeyAgeDays: Type.Optional(Days) }, { minProperties: 1 }),
  maxBodyBytes: MAX_KEY_BODY_BYTES,
  gives: Policy,
  versioned: (given) => given,
  run: keys.choosePolicy,
})

const Addresses = Type.Object({
  allowedAddresses: AllowedAddresses,
  ownAddress: Type.String({ description: 'The address of this request' }),
})

const listIn = ({ allowedAddresses }: Static<typeof Addresses>) => ({ allowedAddresses })

const addresses = operation('account.addresses.show', 'GET /allowed-addresses', 'limits.raise', undefined, {
  summary: "Get the addresses from which the account's keys may be used",
  description: 'If a key has a list too, a request must come from an address in both lists.',
  gives: Addresses,
  versioned: listIn,
  run: keys.showAddresses,
})

const changeAddresses = operation('account.addresses', 'PUT /allowed-addresses', 'limits.raise', undefined, {
  summary: "Set the addresses from which the account's keys may be used",
  description:
    'Holds for the next request of every key, that of the playground included, on every gateway: others are refused (403 ' +
    '`address_not_allowed`) before anything is reserved. A list without the address of who saves it is refused (400).',
  takes: exactly({ allowedAddresses: AllowedAddresses }),
  gives: Addresses,
  versioned: listIn,
  commands: [commands.ADDRESSES_COMMAND],
  run: keys.chooseAddresses,
})

/** The operations in the order of the API document and of the commands' help. */
export const KEY_OPERATIONS = [
  ...[list, create, show, rotate, change, transfer, deactivate, activate, remove],
  ...[policy, changePolicy, addresses, changeAddresses],
] as const
