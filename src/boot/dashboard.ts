/** Connects the parts that only the dashboard needs: users, sessions, orders, administration. */

import { createAccounts } from '@/accounts/accounts'
import { accountAddresses, changeAccountAddresses } from '@/accounts/addresses/addresses'
import { createApiKeys } from '@/accounts/api-keys'
import { createBudgets } from '@/accounts/budgets/budgets'
import { createManagementKeys } from '@/accounts/management/management-keys'
import { createOperatorKeys } from '@/accounts/management/operator-keys'
import { accountsOf, membershipIn } from '@/accounts/members/memberships'
import { changeAccountSettings, readAccountSettings } from '@/accounts/policies/account-settings'
import {
  changeKeyPolicy,
  changeMemberKeyPolicy,
  readKeyPolicy,
  readMemberKeyPolicy,
} from '@/accounts/policies/key-policy'
import { readMovable } from '@/accounts/transfers/movable'
import { moveCredit } from '@/accounts/transfers/move-credit'
import { priceLines } from '@/catalog/price-lines'
import { type CatalogSource, liveLimits } from '@/catalog/reload/live-catalog'
import type { Config } from '@/config/config'
import { createAdministration } from '@/console/administration/administration'
import type { HealthSources } from '@/console/administration/provider-health'
import { createAuth } from '@/console/auth/auth'
import type { AssetDeps } from '@/console/http/assets/routes'
import { createReads } from '@/console/http/reads'
import type { DashboardDeps } from '@/console/http/routes'
import { createKeyUsage } from '@/console/usage-views/key-usage'
import { createLiveAccounts } from '@/console/usage-views/live-accounts'
import { createUsageViews } from '@/console/usage-views/usage-views'
import type { Database } from '@/db/client'
import type { Ledger } from '@/ledger/ledger'
import type { RedisClient } from '@/ledger/store/connection'
import type { SiteBrand } from '@/lib/brand'
import { systemClock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import { NANO_PER_USD, nano } from '@/lib/money'
import { createMembers } from '@/people/members/members'
import { createAssetLoader } from './dashboard-assets/load'
import type { Mails } from './mails'
import type { TopUps } from './top-ups'

type DashboardParts = {
  config: Config
  brand: SiteBrand
  catalog: CatalogSource
  database: Database
  /** A separate pool for pages, so that they take no connections from paid requests. */
  reading: Database
  ledger: Ledger
  redis: RedisClient
  topUps: TopUps
  mails: Mails
  router: HealthSources['router']
  routingCounts: HealthSources['counts']
  logger: Logger
} & Pick<DashboardDeps, 'batches' | 'storedResponses' | 'keepResponsesFor' | 'idempotency'>

export function assembleDashboard(parts: DashboardParts): DashboardDeps & AssetDeps {
  const { config, catalog, database, reading, ledger, redis, topUps, logger } = parts
  const { service } = catalog.current
  const { maxBodyBytes, maxJsonDepth, publicUrl } = config
  const auth = createAuth({
    settings: config.signIn,
    publicUrl,
    mails: parts.mails.desk,
    issuer: config.brand.name ?? service,
    database,
    redis,
    logger,
  })
  const apiKeys = createApiKeys(database, ledger, service)
  const accounts = createAccounts(database, ledger)
  return {
    ...{ idempotency: parts.idempotency, reads: createReads(), catalog, ledger },
    orders: topUps.orders,
    methods: topUps.ordersDeps.methods,
    amounts: topUps.ordersDeps.amounts,
    seller: topUps.ordersDeps.seller,
    apiKeys,
    accounts,
    members: createMembers(database, apiKeys),
    managementKeys: createManagementKeys(database, service),
    operatorKeys: createOperatorKeys(database, service),
    budgets: createBudgets(database, ledger),
    administration: createAdministration({
      ordersDeps: topUps.ordersDeps,
      orders: topUps.orders,
      accounts,
      defaultLimits: liveLimits(catalog),
      apiKeys,
      reading,
      approvalLimit: nano(config.administration.approvalLimitUsd * NANO_PER_USD),
      health: { catalog, router: parts.router, counts: parts.routingCounts },
    }),
    usage: createUsageViews({
      database: reading,
      ledger,
      priceUsage: (model, usage, tier) => priceLines(catalog.current, model, usage, tier),
      clock: systemClock,
      logger,
    }),
    liveAccounts: createLiveAccounts({ ledger, database: reading, logger }),
    readKeyUsage: createKeyUsage(database),
    logger,
    loadAssets: createAssetLoader(logger),
    ...{ maxBodyBytes, maxJsonDepth, publicUrl, brand: parts.brand },
    identifyViewer: auth.identifyViewer,
    countChange: auth.countChange,
    membershipIn: (accountId, userId) => membershipIn(database, accountId, userId),
    auth,
    mailSecrets: parts.mails.secrets,
    ...{ batches: parts.batches, storedResponses: parts.storedResponses },
    keepResponsesFor: parts.keepResponsesFor,
    readAddresses: (accountId) => accountAddresses(database, accountId),
    readKeyPolicy: (accountId) => readKeyPolicy(database, accountId),
    changeKeyPolicy: (accountId, policy, by, check) =>
      changeKeyPolicy(database, ledger, { accountId, policy, by, check }),
    readMemberKeyPolicy: (of) => readMemberKeyPolicy(database, of),
    changeMemberKeyPolicy: (change) => changeMemberKeyPolicy(database, ledger, change),
    moveCredit: (transfer) => moveCredit(database, ledger, transfer),
    readMovable: (accountId) => readMovable(database, ledger, accountId),
    accountsOf: (userId) => accountsOf(database, userId),
    readAccountSettings: (accountId) => readAccountSettings(database, accountId),
    changeAccountSettings: (accountId, chosen, by, check) =>
      changeAccountSettings(database, { accountId, chosen, by, check }),
    changeAddresses: (accountId, addresses, by, check) =>
      changeAccountAddresses(database, ledger, { accountId, addresses, by, check }),
    trustedProxyHops: config.signIn.trustedProxyHops,
  }
}
