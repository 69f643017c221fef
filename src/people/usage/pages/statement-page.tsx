/** The statement pages: the account's own, and any account's for administrators. */
import { Anchor } from '@mantine/core'
import { Link, useParams } from 'wouter'
import { Page } from '@/dashboard/components/page'
import { StatementView } from './statement-view'

/** The page of the account's own statement. */
export function StatementPage() {
  return (
    <Page
      title="Account statement"
      description={
        <>
          Every movement of your{' '}
          <Anchor component={Link} href="/credit" underline="always">
            credit
          </Anchor>
          , with the balance after it.
        </>
      }
    >
      <StatementView />
    </Page>
  )
}

/** The page of another account's statement, for administrators. */
export function AdminAccountStatementPage() {
  const { accountId = '' } = useParams<{ accountId: string }>()
  return (
    <Page
      title="Account statement"
      description={
        <span className="wrap-anywhere">
          Every movement of money of{' '}
          <Anchor component={Link} href={`/admin/accounts/${accountId}`} underline="always">
            {accountId}
          </Anchor>
          , with the balance after it.
        </span>
      }
    >
      <StatementView accountId={accountId} />
    </Page>
  )
}
