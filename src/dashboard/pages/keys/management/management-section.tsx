/** The part of the page of keys that is about management keys, for owners and admins. */
import { Anchor, Badge, Box, Button, Group, Text, VisuallyHidden } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { confirm } from '@/dashboard/components/confirm'
import { Rows } from '@/dashboard/components/lists/rows'
import { Moment } from '@/dashboard/components/moment'
import { notifyDone } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { Loaded } from '@/dashboard/components/states/loaded'
import { CreateManagementKey } from './create-management-key'
import { type ManagementKeyBody, revokeManagementKey, useManagementKeys } from './management-data'

export function ManagementSection() {
  const keys = useManagementKeys()
  const [isCreating, { open, close }] = useDisclosure()
  return (
    <Section
      title="Management keys"
      description={
        <>
          For programs that manage this account by the{' '}
          <Anchor href="/docs/guide/management" underline="always">
            management API
          </Anchor>
          . They call no models.
        </>
      }
      actions={
        <Button variant="default" onClick={open}>
          Create management key
        </Button>
      }
    >
      <Loaded query={keys}>
        {({ items }) =>
          items.length === 0 ? (
            <Text size="sm" c="dimmed">
              No management keys.
            </Text>
          ) : (
            <Rows gap="md">
              {items.map((item) => (
                <KeyRow key={item.id} item={item} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <CreateManagementKey isOpen={isCreating} close={close} />
    </Section>
  )
}

function KeyRow({ item }: { item: ManagementKeyBody }) {
  const { name, prefix, lastFour, scopes, createdBy, isExpired, expiresAt, lastUsedAt } = item
  return (
    <Group component="li" justify="space-between" align="flex-start" gap="sm">
      <Box style={{ flex: '1 1 240px' }}>
        <Text size="sm" fw={600} className="wrap-anywhere">
          {name}{' '}
          <Text span size="sm" ff="monospace" c="dimmed">
            {prefix}…{lastFour}
          </Text>
        </Text>
        <Group gap={6} my={4}>
          {scopes.length === 0 && (
            <Badge variant="default" tt="none">
              No scopes
            </Badge>
          )}
          {scopes.map((scope) => (
            <Badge key={scope} variant="default" tt="none">
              {scope}
            </Badge>
          ))}
        </Group>
        <Text size="xs" c="dimmed" className="wrap-anywhere">
          Made by {createdBy.name}
          {!createdBy.isMember && ', who is no member any more'}. Last used:{' '}
          <Moment at={lastUsedAt} isRelative never="never" />
          {expiresAt !== null && (
            <>
              . {isExpired ? 'Expired' : 'Works until'} <Moment at={expiresAt} />
            </>
          )}
        </Text>
      </Box>
      <Button size="xs" variant="default" onClick={() => askToRevoke(item)}>
        Revoke<VisuallyHidden> {name}</VisuallyHidden>
      </Button>
    </Group>
  )
}

function askToRevoke(item: ManagementKeyBody): void {
  confirm({
    title: `Revoke “${item.name}”?`,
    body: 'Programs that use this key are refused from their next request on. This cannot be undone.',
    action: 'Revoke key',
    async run() {
      await revokeManagementKey(item)
      notifyDone(`“${item.name}” is revoked.`)
    },
  })
}
