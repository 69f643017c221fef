import type { Config } from '@/config/config'
import { createTopUpWorker } from '@/console/orders/auto-top-up/worker'
import { createDepositDesk, type DepositDesk } from '@/console/orders/deposits/deposit-desk'
import {
  createSandboxProvider,
  readOrCreateSandboxSecret,
  type SandboxProvider,
} from '@/console/orders/deposits/sandbox-deposit'
import { createStripeProvider } from '@/console/orders/deposits/stripe/stripe-provider'
import { type BankDetails, EXAMPLE_BANK, type OrdersDeps } from '@/console/orders/deps'
import { createExpiryWorker } from '@/console/orders/expiry-worker'
import { createOrders, type Orders } from '@/console/orders/orders'
import type { Database } from '@/db/client'
import type { Ledger } from '@/ledger/ledger'
import type { Clock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import { once } from '@/lib/once'
import type { BackgroundWorker } from '@/lib/worker-loop'

const CENTS_PER_USD = 100

export type TopUps = {
  orders: Orders
  ordersDeps: OrdersDeps
  /** Undefined if no provider takes deposits. */
  depositDesk: DepositDesk | undefined
  sandbox: SandboxProvider | undefined
  expiry: BackgroundWorker
  /** Undefined if no provider saves cards. */
  autoTopUp: BackgroundWorker | undefined
}

type TopUpParts = {
  config: Config
  service: string
  database: Database
  ledger: Ledger
  clock: Clock
  logger: Logger
  onDeposit(provider: string, outcome: string): void
}

/** Assembles the parts that sell credit: orders, payment methods, listeners. Does not start the workers. */
export function assembleTopUps({ config, service, database, ledger, clock, logger, onDeposit }: TopUpParts): TopUps {
  const { deposit: settings, reversibleDays, orderUsd } = config.topUps
  const sandbox = settings?.provider === 'sandbox' ? sandboxOf(settings.webhookSecrets, database, clock) : undefined
  const deposit = settings?.provider === 'stripe' ? createStripeProvider(settings, clock) : sandbox
  const methods = { bankTransfer: bankOf(config), deposit }
  const seller = sellerOf(config, service)
  const amounts = {
    minimumCents: orderUsd.minimum * CENTS_PER_USD,
    maximumCents: orderUsd.maximum * CENTS_PER_USD,
  }
  const ordersDeps = { database, ledger, clock, logger, seller, methods, amounts, reversibleDays }
  const orders = createOrders(ordersDeps)
  const depositDesk = deposit && createDepositDesk({ provider: deposit, orders, logger, onOutcome: onDeposit })
  const autoTopUp = deposit?.cards && createTopUpWorker(orders, logger)
  return { orders, ordersDeps, depositDesk, sandbox, expiry: createExpiryWorker(orders, logger), autoTopUp }
}

function sandboxOf(kept: readonly string[] | undefined, database: Database, clock: Clock): SandboxProvider {
  return createSandboxProvider(
    once(async () => kept ?? [await readOrCreateSandboxSecret(database)]),
    clock,
  )
}

/** The configured bank account. If none is configured: undefined in production, else an example. */
function bankOf({ topUps: { bank }, isProduction }: Config): BankDetails | undefined {
  if (!bank) return isProduction ? undefined : EXAMPLE_BANK
  return {
    beneficiary: bank.beneficiary,
    bank: bank.bank ?? null,
    iban: bank.iban,
    bic: bank.bic ?? null,
    address: bank.address ?? null,
    note: bank.note ?? null,
    isExample: false,
  }
}

/** The seller by the settings. Without a name, uses that of the bank account's holder, the brand or the service. */
function sellerOf({ topUps: { bank, seller }, brand }: Config, service: string): OrdersDeps['seller'] {
  return {
    name: seller.name ?? bank?.beneficiary ?? brand.name ?? service,
    address: seller.address ?? bank?.address ?? null,
    vatId: seller.vatId ?? null,
  }
}
