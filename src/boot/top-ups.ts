/** Wires what credit is bought with: the orders, the ways to pay for them, and the listeners of payments. */
import type { Config } from '@/config/config'
import { createDepositDesk, type DepositDesk } from '@/console/orders/deposits/deposit-desk'
import {
  createSandboxProvider,
  readOrCreateSandboxSecret,
  type SandboxProvider,
} from '@/console/orders/deposits/sandbox-deposit'
import { createWebhookVerifier, type WebhookVerifier } from '@/console/orders/deposits/webhook-signature'
import { type BankDetails, EXAMPLE_BANK, type OrdersDeps } from '@/console/orders/deps'
import { createExpiryWorker } from '@/console/orders/expiry-worker'
import { createOrders, type Orders } from '@/console/orders/orders'
import type { Database } from '@/db/client'
import type { Ledger } from '@/ledger/ledger'
import type { Clock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import { once } from '@/lib/once'
import type { BackgroundWorker } from '@/lib/worker-loop'

export type TopUps = {
  orders: Orders
  ordersDeps: OrdersDeps
  /** Undefined if no provider takes deposits. */
  depositDesk: DepositDesk | undefined
  sandbox: SandboxProvider | undefined
  expiry: BackgroundWorker
}

type TopUpParts = {
  config: Config
  /** What the service calls itself. */
  service: string
  database: Database
  ledger: Ledger
  clock: Clock
  logger: Logger
  onDeposit(provider: string, outcome: string): void
}

/** Orders over the configured methods. The expiry worker is not started yet. */
export function assembleTopUps({ config, service, database, ledger, clock, logger, onDeposit }: TopUpParts): TopUps {
  const { deposit, reversibleDays } = config.topUps
  const secrets = once(async () => deposit?.webhookSecrets ?? [await readOrCreateSandboxSecret(database)])
  const sandbox = deposit && createSandboxProvider(async () => newest(await secrets()), clock)
  const methods = { bankTransfer: bankOf(config), deposit: sandbox }
  const seller = sellerOf(config, service)
  const ordersDeps = { database, ledger, clock, logger, seller, methods, reversibleDays }
  const orders = createOrders(ordersDeps)
  const verifier = once(async (): Promise<WebhookVerifier> => createWebhookVerifier(await secrets(), clock))
  const depositDesk =
    sandbox && createDepositDesk({ provider: sandbox, verifier, orders, logger, onOutcome: onDeposit })
  return { orders, ordersDeps, depositDesk, sandbox, expiry: createExpiryWorker(orders, logger) }
}

/** The configured account; an example outside production; nothing in production. */
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

/** The seller of the settings, or else the holder of the bank account, or the service. */
function sellerOf({ topUps: { bank, seller } }: Config, service: string): OrdersDeps['seller'] {
  return {
    name: seller.name ?? bank?.beneficiary ?? service,
    address: seller.address ?? bank?.address ?? null,
    vatId: seller.vatId ?? null,
  }
}

function newest(secrets: readonly string[]): string {
  const [secret] = secrets
  if (secret === undefined) throw new Error('there is no webhook secret')
  return secret
}
