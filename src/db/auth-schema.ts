/** The tables of people, for typed queries (src/db/migrations/0001_people.sql). Properties have the names that Better Auth requires. */
import { sql } from 'drizzle-orm'
import { boolean, index, integer, pgTable, primaryKey, text, unique, uniqueIndex } from 'drizzle-orm/pg-core'
import { moment } from './columns'

export type UserRole = 'member' | 'admin'

export const users = pgTable(
  'users',
  {
    id: text('id').primaryKey(),
    name: text('name').notNull(),
    /** In lower case. */
    email: text('email').notNull(),
    emailVerified: boolean('email_verified').notNull().default(false),
    image: text('image'),
    role: text('role').$type<UserRole>().notNull().default('member'),
    /** The person's first account. If an operator created it for the person's address, null until the address is confirmed. */
    accountId: text('account_id'),
    twoFactorEnabled: boolean('two_factor_enabled').notNull().default(false),
    /** When an operator disabled the person; null: enabled. */
    disabledAt: moment('disabled_at'),
    createdAt: moment('created_at').notNull().defaultNow(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
  },
  (table) => [uniqueIndex('users_email_key').on(table.email), index('users_account_index').on(table.accountId)],
)

export const ACCOUNT_ROLES = ['owner', 'admin', 'developer', 'billing', 'viewer'] as const
export type AccountRole = (typeof ACCOUNT_ROLES)[number]

/** Triggers make a new person the owner of their account. They keep the last owner of an account with members. */
export const memberships = pgTable(
  'memberships',
  {
    accountId: text('account_id').notNull(),
    userId: text('user_id').notNull(),
    role: text('role').$type<AccountRole>().notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
    /** Models that the member's keys may call, and providers that may answer them; null: all. */
    allowedModels: text('allowed_models').array(),
    allowedProviders: text('allowed_providers').array(),
    zeroRetention: boolean('zero_retention').notNull().default(false),
    noTraining: boolean('no_training').notNull().default(false),
    regions: text('regions').array(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.userId] }),
    index('memberships_user_index').on(table.userId),
  ],
)

export type InvitationState = 'pending' | 'accepted' | 'declined' | 'revoked'

export const invitations = pgTable(
  'invitations',
  {
    id: text('id').primaryKey(),
    accountId: text('account_id').notNull(),
    /** In lower case. */
    email: text('email').notNull(),
    role: text('role').$type<AccountRole>().notNull(),
    /** SHA-256 of the mailed token, in hexadecimal. */
    tokenHash: text('token_hash').notNull().unique(),
    /** The sender, whose current role decides whether the invitation may be accepted. */
    invitedBy: text('invited_by').notNull(),
    state: text('state').$type<InvitationState>().notNull().default('pending'),
    createdAt: moment('created_at').notNull().defaultNow(),
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [
    uniqueIndex('invitations_pending_key').on(table.accountId, table.email).where(sql`state = 'pending'`),
    index('invitations_account_index').on(table.accountId, table.createdAt.desc()),
    index('invitations_inviter_index').on(table.invitedBy),
  ],
)

/** How a person signs in. For the provider `credential`, `accountId` is the user's id and `password` an argon2id hash. */
export const credentials = pgTable(
  'credentials',
  {
    id: text('id').primaryKey(),
    userId: text('user_id').notNull(),
    providerId: text('provider_id').notNull(),
    accountId: text('provider_account_id').notNull(),
    password: text('password_hash'),
    createdAt: moment('created_at').notNull().defaultNow(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
  },
  (table) => [unique().on(table.providerId, table.accountId), index('credentials_user_index').on(table.userId)],
)

/** Sessions of signed-in people. `expiresAt` never changes; `updatedAt` is the time of the last use. */
export const sessions = pgTable(
  'sessions',
  {
    id: text('id').primaryKey(),
    /** The token's SHA-256; only the browser has the token itself. */
    token: text('token').notNull().unique(),
    userId: text('user_id').notNull(),
    expiresAt: moment('expires_at').notNull(),
    ipAddress: text('ip_address'),
    userAgent: text('user_agent'),
    createdAt: moment('created_at').notNull().defaultNow(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
    /** When the person last proved their identity by a password or a code. */
    provedAt: moment('proved_at').notNull().defaultNow(),
  },
  (table) => [index('sessions_user_index').on(table.userId), index('sessions_expiry_index').on(table.expiresAt)],
)

export const verifications = pgTable(
  'verifications',
  {
    id: text('id').primaryKey(),
    identifier: text('identifier').notNull(),
    value: text('value').notNull(),
    expiresAt: moment('expires_at').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
  },
  (table) => [
    index('verifications_identifier_index').on(table.identifier),
    index('verifications_expiry_index').on(table.expiresAt),
  ],
)

export const twoFactors = pgTable('two_factors', {
  id: text('id').primaryKey(),
  userId: text('user_id').notNull().unique(),
  secret: text('secret').notNull(),
  backupCodes: text('backup_codes').notNull(),
  verified: boolean('verified').notNull().default(false),
  failedVerificationCount: integer('failed_verification_count').notNull().default(0),
  lockedUntil: moment('locked_until'),
})

/** Changes of sign-in addresses. A finished change is deleted when the person changes the address again. */
export const addressChanges = pgTable(
  'address_changes',
  {
    id: text('id').primaryKey(),
    userId: text('user_id').notNull(),
    /** In lower case, like `oldEmail`. */
    newEmail: text('new_email').notNull(),
    /** SHA-256, in hexadecimal, of the token mailed to the new address; `undoHash`: of the token mailed to the old one. */
    confirmHash: text('confirm_hash').notNull().unique(),
    confirmUntil: moment('confirm_until').notNull(),
    /** null while unconfirmed. */
    confirmedAt: moment('confirmed_at'),
    /** Nobody else can take this address until `undoUntil`. Null while unconfirmed. */
    oldEmail: text('old_email'),
    /** null if the change can't be undone, or was undone. */
    undoHash: text('undo_hash').unique(),
    undoUntil: moment('undo_until'),
  },
  (table) => [
    uniqueIndex('address_changes_pending_key').on(table.userId).where(sql`confirmed_at IS NULL`),
    index('address_changes_user_index').on(table.userId),
    index('address_changes_kept_index').on(table.oldEmail).where(sql`undo_hash IS NOT NULL`),
  ],
)

/** At most one row. */
export const signInSecret = pgTable('sign_in_secret', {
  id: integer('id').primaryKey(),
  secret: text('secret').notNull(),
})
