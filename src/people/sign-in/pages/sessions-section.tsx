/** The settings that list the person's sessions and end them. */
import { Box, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { confirm } from '@/dashboard/components/confirm'
import { Rows } from '@/dashboard/components/lists/rows'
import { Moment } from '@/dashboard/components/moment'
import { notifyDone } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { Loaded } from '@/dashboard/components/states/loaded'
import { Status } from '@/dashboard/components/status'
import { askAgain } from '@/dashboard/query'
import { browserName } from '@/lib/browser-name'
import { performOwn } from '@/people/client'

type Session = {
  sessionId: string
  isCurrent: boolean
  userAgent: string
  address: string
  createdAt: string
  lastUsedAt: string
}

const SESSIONS_KEY = ['sessions']

export function SessionsSection() {
  const sessions = useQuery({ queryKey: SESSIONS_KEY, queryFn: () => performOwn('GET /session/sessions', {}) })
  const hasOthers = (sessions.data?.items.length ?? 0) > 1
  return (
    <Section
      title="Sessions"
      description="Where you are signed in. End what you do not recognise, and change your password then."
      actions={
        hasOthers && (
          <Button variant="default" size="sm" onClick={endOthers}>
            End all others
          </Button>
        )
      }
    >
      <Loaded query={sessions}>
        {({ items }) => (
          <Rows gap="md">
            {items.map((session) => (
              <SessionRow key={session.sessionId} session={session} />
            ))}
          </Rows>
        )}
      </Loaded>
    </Section>
  )
}

function SessionRow({ session }: { session: Session }) {
  const name = browserName(session.userAgent)
  return (
    <Group component="li" justify="space-between" wrap="nowrap" gap="md">
      <Box miw={0}>
        <Group gap="xs">
          <Text fw={500} size="sm" className="wrap-anywhere">
            {name}
          </Text>
          {session.isCurrent && <Status tone="good">This browser</Status>}
        </Group>
        <Text size="sm" c="dimmed">
          {session.address} · signed in <Moment at={session.createdAt} isRelative /> · last used{' '}
          <Moment at={session.lastUsedAt} isRelative />
        </Text>
      </Box>
      {!session.isCurrent && (
        <Button
          variant="default"
          size="xs"
          style={{ flexShrink: 0 }}
          aria-label={`End the session of ${name}`}
          onClick={() => endOne(session)}
        >
          End
        </Button>
      )}
    </Group>
  )
}

function endOne({ sessionId, userAgent }: Session): void {
  confirm({
    title: 'End this session?',
    body: `${browserName(userAgent)} will be signed out at once.`,
    action: 'End session',
    run: async () => {
      await performOwn('DELETE /session/sessions/:sessionId', { sessionId })
      await ended('The session was ended.')
    },
  })
}

function endOthers(): void {
  confirm({
    title: 'End all other sessions?',
    body: 'You stay signed in here, and nowhere else.',
    action: 'End all others',
    run: async () => {
      await performOwn('DELETE /session/sessions', {})
      await ended('All other sessions were ended.')
    },
  })
}

async function ended(message: string): Promise<void> {
  await askAgain({ queryKey: SESSIONS_KEY })
  notifyDone(message)
}
