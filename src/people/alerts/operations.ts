/** The operations on an account's alerts: thresholds and addresses for permitted roles, and every member's own choice of mails. */
import { type Static, Type } from '@sinclair/typebox'
import { mayDo } from '@/accounts/members/permissions'
import { GatewayError, invalidRequest } from '@/chat/error'
import { exactly } from '@/console/http/wire'
import { ALERT_KINDS, type AlertKind, OPTIONAL_KINDS, SCHEDULED_KINDS, type ScheduledKind } from '@/db/alert-schema'
import { titled } from '@/http/openapi/titled'
import { type Nano, parseUsd } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'
import { type OperationCaller, operationsOver } from '@/people/operation'
import { Email } from '@/people/sign-in/schemas'
import { addAlertAddress, askAlertAddressAgain, listAlertAddresses, removeAlertAddress } from './addresses'
import { chooseMails, readChoices, readScheduled } from './choices'
import { ALERT_COMMAND } from './commands'
import { MAX_ALERT_ADDRESSES } from './fields'
import type { AlertDeps } from './link-routes'
import { changeThresholds, readThresholds, thresholdsInUsd } from './thresholds'

const operation = operationsOver<AlertDeps>()

const Threshold = (which: string) =>
  orNull(Type.String({ maxLength: 20, examples: ['10'] }), {
    description: `${which}, decimal USD above 0; null = no alert`,
  })
const Addresses = Type.Array(
  Type.Object({
    email: Type.String(),
    isConfirmed: Type.Boolean({ description: 'Whether the address is confirmed, and so gets alerts' }),
  }),
  { description: 'Further recipients of the account’s alerts, besides owners and billing' },
)

const choicesOf = <Kind extends string>(kinds: readonly Kind[], description: string) =>
  Type.Object(
    Object.fromEntries(kinds.map((kind) => [kind, Type.Boolean()])) as Record<Kind, ReturnType<typeof Type.Boolean>>,
    { description },
  )

const Settings = Type.Object({
  firstUsd: Threshold('The first threshold of the balance'),
  secondUsd: Threshold('The second one, lower than the first'),
  addresses: Addresses,
})

const AlertsBody = titled('Alerts', {
  isMailPossible: Type.Boolean({ description: 'False if this service sends no mail' }),
  email: Type.String({ description: 'Address of the signed-in person’s mails' }),
  own: choicesOf<AlertKind>(ALERT_KINDS, 'Which of them one gets oneself'),
  scheduled: choicesOf<ScheduledKind>(SCHEDULED_KINDS, 'Which mails one gets at the end of each period'),
  getsAll: Type.Boolean({
    description: 'Whether the role gets alerts of the whole account, not only of the person’s keys and budget',
  }),
  account: orNull(Settings, { description: 'null if the member may not see the account’s credit' }),
})
type AlertsBody = Static<typeof AlertsBody>

const ChangeBody = exactly({
  firstUsd: Type.Optional(Settings.properties.firstUsd),
  secondUsd: Type.Optional(Settings.properties.secondUsd),
})
const ChangedBody = Type.Composite([
  AlertsBody,
  Type.Object({
    isBelow: Type.Boolean({ description: 'The credit is below a threshold that was changed: its alert is sent now' }),
  }),
])
const AddressBody = exactly({ email: Email })

const show = operation('account.alerts.show', 'GET /alerts', 'usage.read', undefined, {
  summary: 'Read alerts',
  description: 'The account’s alerts by mail, and which of them the signed-in person gets.',
  gives: AlertsBody,
  run: shown,
})

const change = operation('account.alerts', 'PATCH /alerts', 'alerts.change', undefined, {
  summary: 'Change alerts of the account',
  description:
    'Thresholds of the balance; omitted fields are unchanged. Each recipient can turn a kind off for themselves.',
  takes: ChangeBody,
  gives: ChangedBody,
  commands: [ALERT_COMMAND],
  async run(call, body) {
    const isBelow = await setThresholds(call, body)
    return { ...(await shown(call)), isBelow }
  },
})

const choose = operation('account.alerts.choose', 'PUT /alerts/own', 'usage.read', undefined, {
  isUnaudited: true,
  summary: 'Turn a kind of mails off or on',
  description: 'For the signed-in person in this account. Mails about sign-in and membership can’t be turned off.',
  takes: exactly({ kind: oneOf(OPTIONAL_KINDS), isWanted: Type.Boolean() }),
  gives: AlertsBody,
  async run(call, choice) {
    const { accountId, email } = call.viewer
    await chooseMails(call.deps.auth.parts.database, { accountId, email, ...choice }, Date.now())
    return await shown(call)
  },
})

const add = operation('alert_address.add', 'POST /alerts/addresses', 'alerts.change', undefined, {
  summary: 'Add an address for alerts',
  description:
    `At most ${MAX_ALERT_ADDRESSES}. It is mailed a link, and gets nothing else before somebody has confirmed by it. ` +
    'An account sends 10 such mails an hour, and an address gets 3 an hour and 6 a day (429).',
  takes: AddressBody,
  gives: AlertsBody,
  async run(call, { email }) {
    await addAlertAddress(call, email)
    return await shown(call)
  },
})

const askAgain = operation('alert_address.ask_again', 'POST /alerts/addresses/ask-again', 'alerts.change', undefined, {
  summary: 'Mail a confirmation link again',
  description: 'With a new link; the old one is void.',
  takes: AddressBody,
  gives: AlertsBody,
  async run(call, { email }) {
    await askAlertAddressAgain(call, email)
    return await shown(call)
  },
})

const remove = operation('alert_address.remove', 'POST /alerts/addresses/remove', 'alerts.change', undefined, {
  summary: 'Remove an address for alerts',
  description: 'Alerts that wait for it are not sent.',
  takes: AddressBody,
  gives: AlertsBody,
  async run(call, { email }) {
    const { deps, viewer, by } = call
    await removeAlertAddress(deps.auth.parts.database, { accountId: viewer.accountId, by }, email)
    return await shown(call)
  },
})

export const ALERT_OPERATIONS = [show, change, choose, add, askAgain, remove] as const

type Call = OperationCaller & { deps: AlertDeps }

/** Returns whether the credit is below a changed threshold. */
async function setThresholds({ deps, viewer, by }: Call, body: Static<typeof ChangeBody>): Promise<boolean> {
  const { firstUsd, secondUsd } = body
  const outcome = await changeThresholds(deps.auth.parts.database, {
    ...{ accountId: viewer.accountId, by },
    ...(firstUsd !== undefined && { first: readThreshold(firstUsd, 'firstUsd') }),
    ...(secondUsd !== undefined && { second: readThreshold(secondUsd, 'secondUsd') }),
  })
  if (outcome === 'unknown_account') throw new GatewayError('not_found', 'There is no such account.')
  if (outcome === 'second_not_lower')
    throw invalidRequest('The second threshold must be lower than the first.', 'secondUsd')
  return outcome === 'updated_below'
}

function readThreshold(text: string | null, field: string): Nano | null {
  if (text === null) return null
  const value = parseUsd(text)
  if (value !== undefined && value > 0) return value
  throw invalidRequest('The threshold must be an amount of USD above 0, such as 10 or 2.50.', field)
}

async function shown({ deps: { auth }, viewer }: Call): Promise<AlertsBody> {
  const { database, mails } = auth.parts
  const { accountId, accountRole, email } = viewer
  const [thresholds, addresses, own, scheduled] = await Promise.all([
    readThresholds(database.db, accountId),
    listAlertAddresses(database.db, accountId),
    readChoices(database, accountId, email),
    readScheduled(database, accountId, email),
  ])
  return {
    ...{ isMailPossible: mails !== undefined, email, own, scheduled },
    getsAll: mayDo(accountRole, 'alerts.change'),
    account: mayDo(accountRole, 'billing.read') ? { ...thresholdsInUsd(thresholds), addresses } : null,
  }
}
