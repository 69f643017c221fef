/** The page of another account's statement, for administrators. */
import { Anchor } from '@mantine/core'
import { Link, useParams } from 'wouter'
import { Page } from '@/dashboard/components/page'
import { StatementView } from './statement-view'

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
