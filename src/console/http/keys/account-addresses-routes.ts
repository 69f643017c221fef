/** The routes of the networks that all keys of an account may be used from. */
import { Type } from '@sinclair/typebox'
import type { ChangedBy } from '@/accounts/audit'
import type { Caller } from '@/console/http/changed-by'
import { ACCOUNT_PREFIX, guarded } from '@/console/http/guard'
import { exactly } from '@/console/http/wire'
import { clientAddress } from '@/http/client-address'
import type { Addresses } from '@/ledger/address-lists'
import { type KeyRouteDeps, noSuchAccount } from './calls'
import { AllowedAddresses, checkOwnAddress, readAddresses } from './key-lists'

export type AddressRouteDeps = KeyRouteDeps & {
  /** The account's list; undefined if there is no such account. */
  readAddresses(accountId: string): Promise<Addresses | undefined>
  /** Changes it for the next request of each of the account's keys. */
  changeAddresses(accountId: string, addresses: Addresses, by: ChangedBy): Promise<unknown>
}

const Lists = Type.Object({
  allowedAddresses: AllowedAddresses,
  ownAddress: Type.String({ description: 'Where this request came from' }),
})

const Choice = exactly({ allowedAddresses: AllowedAddresses })

/** Mounts `/dashboard/api/a/:accountId/allowed-addresses`. */
export function accountAddressesRoutes(deps: AddressRouteDeps) {
  return guarded(deps, 'account-addresses-routes', `${ACCOUNT_PREFIX}/allowed-addresses`)
    .get('', (caller) => show(deps, caller), {
      may: 'limits.raise',
      response: Lists,
      detail: {
        summary: "From where the account's keys may be used",
        description:
          'A key may have a list of its own as well: then a request must come from an address that is in both.',
      },
    })
    .put('', (caller) => choose(deps, caller, caller.body), {
      may: 'limits.raise',
      body: Choice,
      response: Lists,
      detail: {
        summary: "Choose from where the account's keys may be used",
        description:
          'Holds for the next request of every key, that of the playground included, on every gateway: others are refused (403 ' +
          '`address_not_allowed`) before anything is reserved. A list without the address of who saves it is refused (400).',
      },
    })
}

async function show(deps: AddressRouteDeps, { viewer, request }: Caller) {
  const list = await deps.readAddresses(viewer.accountId)
  if (list === undefined) throw noSuchAccount()
  return { allowedAddresses: list && [...list], ownAddress: clientAddress(request, deps.trustedProxyHops) }
}

async function choose(deps: AddressRouteDeps, caller: Caller, body: typeof Choice.static) {
  const addresses = readAddresses(body.allowedAddresses)
  if (addresses) checkOwnAddress(addresses, caller.request, deps.trustedProxyHops)
  await deps.changeAddresses(caller.viewer.accountId, addresses, caller.by)
  return await show(deps, caller)
}
