/** Routes of an account's alerts: thresholds and addresses for permitted roles, and every member's own choice of mails. */
import { type Static, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { type AlertAddress, MAX_ALERT_ADDRESSES } from '@/accounts/alerts/addresses'
import type { AlertSettings, ChangeAlertsOutcome } from '@/accounts/alerts/settings'
import type { ChangedBy } from '@/accounts/audit'
import { mayDo } from '@/accounts/members/permissions'
import type { chooseMails } from '@/accounts/scheduled-mails/choices'
import { GatewayError, invalidRequest } from '@/chat/error'
import type { Member } from '@/console/auth/viewer'
import { ACCOUNT_PREFIX, type GuardDeps, guarded } from '@/console/http/guard'
import { Email } from '@/console/http/session/schemas'
import { exactly } from '@/console/http/wire'
import { ALERT_KINDS, type AlertKind, OPTIONAL_KINDS, SCHEDULED_KINDS, type ScheduledKind } from '@/db/alert-schema'
import { titled } from '@/http/openapi/titled'
import { formatUsd, type Nano, parseUsd } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'
import { type AddressDeps, addAddress, alertQuestionRoutes, askAgain } from './address-routes'
import { type UnsubscribeDeps, unsubscribeRoutes } from './unsubscribe-routes'

export type AlertRouteDeps = GuardDeps &
  UnsubscribeDeps &
  AddressDeps & {
    alerts: {
      read(accountId: string): Promise<AlertSettings>
      addresses(accountId: string): Promise<AlertAddress[]>
      removeAddress(accountId: string, email: string, by: ChangedBy): Promise<void>
      change(change: { accountId: string; by: ChangedBy } & Partial<AlertSettings>): Promise<ChangeAlertsOutcome>
      choices(accountId: string, email: string): Promise<Record<AlertKind, boolean>>
      scheduled(accountId: string, email: string): Promise<Record<ScheduledKind, boolean>>
      choose(choice: Parameters<typeof chooseMails>[1]): Promise<void>
      isPossible: boolean
    }
  }

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
export type AlertsBody = Static<typeof AlertsBody>

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
const ChoiceBody = exactly({ kind: oneOf(OPTIONAL_KINDS), isWanted: Type.Boolean() })

export function alertRoutes(deps: AlertRouteDeps) {
  return new Elysia({ name: 'alert-routes' })
    .use(accountRoutes(deps))
    .use(addressRoutes(deps))
    .use(alertQuestionRoutes(deps))
    .use(unsubscribeRoutes(deps))
}

function accountRoutes(deps: AlertRouteDeps) {
  return guarded(deps, 'account-alert-routes', `${ACCOUNT_PREFIX}/alerts`)
    .get('', ({ viewer }) => show(deps, viewer), {
      may: 'usage.read',
      response: AlertsBody,
      detail: {
        summary: 'Read alerts',
        description: 'The account’s alerts by mail, and which of them the signed-in person gets.',
      },
    })
    .patch(
      '',
      async ({ viewer, by, body }) => {
        const isBelow = await change(deps, viewer.accountId, body, by)
        return { ...(await show(deps, viewer)), isBelow }
      },
      {
        may: 'alerts.change',
        body: ChangeBody,
        response: ChangedBody,
        detail: {
          summary: 'Change alerts of the account',
          description:
            'Thresholds of the balance; omitted fields are unchanged. Each recipient can turn a kind off for themselves.',
        },
      },
    )
    .put(
      '/own',
      async ({ viewer, body }) => {
        await deps.alerts.choose({ accountId: viewer.accountId, email: viewer.email, ...body })
        return show(deps, viewer)
      },
      {
        may: 'usage.read',
        body: ChoiceBody,
        response: AlertsBody,
        detail: {
          summary: 'Turn a kind of mails off or on',
          description:
            'For the signed-in person in this account. Mails about sign-in and membership can’t be turned off.',
        },
      },
    )
}

function addressRoutes(deps: AlertRouteDeps) {
  return guarded(deps, 'alert-address-routes', `${ACCOUNT_PREFIX}/alerts/addresses`)
    .post(
      '',
      async (caller) => {
        await addAddress(deps, caller, caller.body.email)
        return show(deps, caller.viewer)
      },
      {
        may: 'alerts.change',
        body: AddressBody,
        response: AlertsBody,
        detail: {
          summary: 'Add an address for alerts',
          description:
            `At most ${MAX_ALERT_ADDRESSES}. It is mailed a link, and gets nothing else before somebody has confirmed by it. ` +
            'An account sends 10 such mails an hour, and an address gets 3 an hour and 6 a day (429).',
        },
      },
    )
    .post(
      '/ask-again',
      async (caller) => {
        await askAgain(deps, caller, caller.body.email)
        return show(deps, caller.viewer)
      },
      {
        may: 'alerts.change',
        body: AddressBody,
        response: AlertsBody,
        detail: { summary: 'Mail a confirmation link again', description: 'With a new link; the old one is void.' },
      },
    )
    .post(
      '/remove',
      async ({ viewer, by, body }) => {
        await deps.alerts.removeAddress(viewer.accountId, body.email, by)
        return show(deps, viewer)
      },
      {
        may: 'alerts.change',
        body: AddressBody,
        response: AlertsBody,
        detail: { summary: 'Remove an address for alerts', description: 'Alerts that wait for it are not sent.' },
      },
    )
}

async function show({ alerts }: AlertRouteDeps, { accountId, accountRole, email }: Member): Promise<AlertsBody> {
  const [{ first, second }, addresses, own, scheduled] = await Promise.all([
    alerts.read(accountId),
    alerts.addresses(accountId),
    alerts.choices(accountId, email),
    alerts.scheduled(accountId, email),
  ])
  return {
    isMailPossible: alerts.isPossible,
    email,
    own,
    scheduled,
    getsAll: mayDo(accountRole, 'alerts.change'),
    account: mayDo(accountRole, 'billing.read')
      ? { firstUsd: usdOf(first), secondUsd: usdOf(second), addresses }
      : null,
  }
}

async function change(
  { alerts }: AlertRouteDeps,
  accountId: string,
  body: Static<typeof ChangeBody>,
  by: ChangedBy,
): Promise<boolean> {
  const { firstUsd, secondUsd } = body
  const outcome = await alerts.change({
    ...{ accountId, by },
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

function usdOf(amount: Nano | null): string | null {
  return amount === null ? null : formatUsd(amount)
}
