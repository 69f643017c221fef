/** The lists on an account's page: people, keys, orders and latest ledger entries. */
import { Anchor, Box, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { Rows, SplitRow } from '@/dashboard/components/lists/rows'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { Section } from '@/dashboard/components/section'
import { Status } from '@/dashboard/components/status'
import { capitalise, decimalsOf } from '@/dashboard/format'
import { STATE_WORDS } from '@/people/orders/pages/words'
import type { AccountView } from './admin-data'

export function AccountLists({ account }: { account: AccountView }) {
  const entryDecimals = decimalsOf(
    account.entries.map(({ amount }) => amount),
    { isExact: true },
  )
  const spentDecimals = decimalsOf(account.keys.map(({ spentThisMonthUsd }) => spentThisMonthUsd))
  return (
    <>
      <List title="People" none="Nobody signs in for this account." isEmpty={account.users.length === 0}>
        {account.users.map((user) => (
          <Row key={user.userId} title={user.name} hint={user.email}>
            {user.role === 'admin' && <Status tone="info">Administrator</Status>}
          </Row>
        ))}
      </List>
      <List title="API keys" none="No keys yet." isEmpty={account.keys.length === 0}>
        {account.keys.map((key) => (
          <Row
            key={key.id}
            title={key.name}
            hint={
              <>
                {key.prefix}…{key.lastFour}, last used <Moment at={key.lastUsedAt} isRelative never="never" />
              </>
            }
          >
            <Status tone={key.status === 'active' ? 'good' : 'neutral'}>{capitalise(key.status)}</Status>
            <Money usd={key.spentThisMonthUsd} decimals={spentDecimals} />
          </Row>
        ))}
      </List>
      <List title="Orders" none="No credit was ordered yet." isEmpty={account.orders.length === 0}>
        {account.orders.map((order) => (
          <Row
            key={order.orderId}
            title={
              <Anchor component={Link} href={`/admin/orders?order=${order.orderId}`} size="sm" className="figures">
                {order.reference}
              </Anchor>
            }
            hint={<Moment at={order.createdAt} />}
          >
            <Status tone={STATE_WORDS[order.state].tone}>{STATE_WORDS[order.state].label}</Status>
            <Money usd={order.amount} />
          </Row>
        ))}
      </List>
      <List title="Ledger" none="No credit yet." isEmpty={account.entries.length === 0}>
        {account.entries.map((entry) => (
          <Row key={entry.entryId} title={entry.reference} hint={<Moment at={entry.createdAt} />}>
            <Money usd={entry.amount} decimals={entryDecimals} />
          </Row>
        ))}
      </List>
    </>
  )
}

type ListProps = { title: string; none: string; isEmpty: boolean; children: ReactNode }

function List({ title, none, isEmpty, children }: ListProps) {
  return (
    <Section title={title} isFlush>
      {isEmpty ? (
        <Text size="sm" c="dimmed" px="lg" pb="lg">
          {none}
        </Text>
      ) : (
        <Rows>{children}</Rows>
      )}
    </Section>
  )
}

function Row({ title, hint, children }: { title: ReactNode; hint: ReactNode; children: ReactNode }) {
  return (
    <SplitRow gap="xs">
      <Box miw={0} style={{ flex: '1 1 160px' }}>
        <Text size="sm" component="div" className="wrap-anywhere">
          {title}
        </Text>
        <Text size="xs" c="dimmed" component="div" className="wrap-anywhere">
          {hint}
        </Text>
      </Box>
      <Group gap="sm" fz="sm">
        {children}
      </Group>
    </SplitRow>
  )
}
