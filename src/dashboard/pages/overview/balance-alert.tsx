/** The notice that credit is running out, in time, and where to add some. */
import { Alert, Button, Group, Text } from '@mantine/core'
import { IconAlertTriangle, IconLock } from '@tabler/icons-react'
import { Link } from 'wouter'
import type { Overview } from './overview-data'

export function BalanceAlert({ overview }: { overview: Overview }) {
  if (overview.isSuspended) {
    return (
      <Alert color="red" icon={<IconLock />} title="This account is suspended">
        <Text size="sm">Requests are refused with 403. Ask the operator of this service why.</Text>
      </Alert>
    )
  }
  const { level, daysLeft } = overview.hint
  if (level === 'ok' || !overview.started.hasCredit) return null
  return (
    <Alert
      color={level === 'low' ? 'yellow' : 'red'}
      icon={<IconAlertTriangle />}
      title={level === 'empty' ? 'Your credit is used up' : 'Your credit is running low'}
    >
      <Group justify="space-between" gap="sm">
        <Text size="sm" style={{ flex: '1 1 240px' }}>
          {level === 'empty' ? 'New requests are refused with 402 until you add credit.' : lastsText(daysLeft)}
        </Text>
        <Button component={Link} href="/credit" size="sm">
          Add credit
        </Button>
      </Group>
    </Alert>
  )
}

function lastsText(daysLeft: number | null): string {
  if (daysLeft === null) return 'Less than $1 is left.'
  const days = Math.floor(daysLeft)
  const time = days < 1 ? 'less than a day' : days === 1 ? 'about a day' : `about ${days} days`
  return `At the rate of the last seven days it lasts ${time}.`
}
