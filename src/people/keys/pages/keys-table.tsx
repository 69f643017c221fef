import { ActionIcon, Anchor, Box, Group, Menu, Table, Text } from '@mantine/core'
import { IconDots, IconPlayerPause, IconPlayerPlay, IconTrash } from '@tabler/icons-react'
import { useRef } from 'react'
import { Link } from 'wouter'
import { useMay } from '@/dashboard/account'
import { Heads, SCROLLED } from '@/dashboard/components/lists/data-table'
import { Moment } from '@/dashboard/components/moment'
import { activate, askToDeactivate, askToDelete } from './key-actions'
import { KeyKind, KeySpend, KeyStatus } from './key-state'
import { type KeyBody, maskedKey } from './keys-data'

/** Minimum width in pixels: enough for the columns that a phone shows (name and spending). */
const MIN_WIDTH = 320
const COLUMNS = [
  { title: 'Name' },
  { title: 'Key', visibleFrom: 'md' },
  { title: 'Status', visibleFrom: 'sm' },
  { title: 'Last used', visibleFrom: 'lg' },
  { title: 'This month', ta: 'right' },
  { title: 'Actions', isHidden: true, w: 56 },
] as const

/** The table of the account's API keys. Each row is a link to the key's page. */
export function KeysTable({ items }: { items: readonly KeyBody[] }) {
  const owners = new Set(items.flatMap(({ createdBy }) => createdBy?.userId ?? []))
  return (
    <Table.ScrollContainer minWidth={MIN_WIDTH} scrollAreaProps={SCROLLED}>
      <Table verticalSpacing="sm" horizontalSpacing="sm" highlightOnHover>
        <Heads columns={COLUMNS} />
        <Table.Tbody>
          {items.map((item) => (
            <KeyRow key={item.id} item={item} isShared={owners.size > 1} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

type KeyRowProps = {
  item: KeyBody
  /** Whether several people have keys here: then each row shows the key's member. */
  isShared: boolean
}

function KeyRow({ item, isShared }: KeyRowProps) {
  const maySwitch = useMay()('keys.use')
  return (
    <Table.Tr>
      <Table.Td miw={116} maw={280}>
        <Group gap={6}>
          <Anchor component={Link} href={`/keys/${item.id}`} fw={600} size="sm" className="wrap-anywhere">
            {item.name}
          </Anchor>
          {item.createdBy && isShared && (
            <Text size="xs" c="dimmed" className="wrap-anywhere">
              of {item.createdBy.name}
            </Text>
          )}
          <KeyKind item={item} />
          <Box hiddenFrom="sm">
            <KeyStatus status={item.status} />
          </Box>
        </Group>
      </Table.Td>
      <Table.Td visibleFrom="md">
        <Text ff="monospace" size="sm" style={{ whiteSpace: 'nowrap' }}>
          {maskedKey(item)}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <KeyStatus status={item.status} />
      </Table.Td>
      <Table.Td visibleFrom="lg">
        <Text size="sm" c="dimmed">
          <Moment at={item.lastUsedAt} isRelative />
        </Text>
      </Table.Td>
      <Table.Td ta="right">
        <KeySpend item={item} />
      </Table.Td>
      <Table.Td>{maySwitch && <KeyMenu item={item} />}</Table.Td>
    </Table.Tr>
  )
}

function KeyMenu({ item }: { item: KeyBody }) {
  const button = useRef<HTMLButtonElement>(null)
  /** When the dialog closes, the focus returns to the element that had it before. This must not be the closed menu. */
  const ask = (question: (item: KeyBody) => void) => {
    button.current?.focus()
    question(item)
  }
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon ref={button} variant="subtle" color="gray" aria-label={`Actions for ${item.name}`}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {item.status === 'deactivated' ? (
          <Menu.Item leftSection={<IconPlayerPlay size={16} />} onClick={() => void activate(item)}>
            Activate
          </Menu.Item>
        ) : (
          <Menu.Item leftSection={<IconPlayerPause size={16} />} onClick={() => ask(askToDeactivate)}>
            Deactivate
          </Menu.Item>
        )}
        {!item.builtIn && (
          <Menu.Item leftSection={<IconTrash size={16} />} onClick={() => ask(askToDelete)}>
            Delete…
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
