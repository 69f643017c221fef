/** Trials of providers that administrators ask for: they cost money, so the audit log says who did, and two at once are one. */
import { recordAudit } from '@/accounts/audit'
import type { CatalogSource } from '@/catalog/reload/live-catalog'
import type { Database } from '@/db/client'
import { type Trial, tryProvider } from '@/upstream/trial/try-provider'
import { type Administrator, auditOrigin } from './administrator'

/** Tries the provider of this name; undefined where none is offered. */
type ProviderTrials = (by: Administrator, provider: string) => Promise<Trial[] | undefined>

/** Creates the trials of one process. */
export function createProviderTrials(catalog: CatalogSource, database: Database): ProviderTrials {
  const running = new Map<string, Promise<Trial[] | undefined>>()
  return async (by, provider) => {
    const { current } = catalog
    if (!current.providers.has(provider)) return undefined
    const under = running.get(provider)
    if (under) return under
    await database.db.transaction((transaction) =>
      recordAudit(transaction, {
        ...auditOrigin(by),
        ...{ action: 'provider.test', subject: provider, accountId: null, details: {} },
      }),
    )
    const trial = tryProvider(current, provider).finally(() => running.delete(provider))
    running.set(provider, trial)
    return trial
  }
}
