/** The account that is shown, by its name, and the way to the others of the person. */
import { Button, Menu, Text } from '@mantine/core'
import { IconCheck, IconChevronDown } from '@tabler/icons-react'
import type { Viewer } from './session'

type AccountSwitcherProps = { accounts: Viewer['accounts']; accountId: string }

/** Nothing where there is one account alone. Going on to another loads the pages anew. */
export function AccountSwitcher({ accounts, accountId }: AccountSwitcherProps) {
  if (accounts.length < 2) return null
  const shown = accounts.find((account) => account.accountId === accountId)
  return (
    <Menu position="bottom-start" width={216}>
      <Menu.Target>
        <Button
          variant="default"
          fullWidth
          mb="sm"
          justify="space-between"
          rightSection={<IconChevronDown size={16} />}
          aria-label={`Account: ${shown?.name ?? 'none of yours'}`}
        >
          <Text span size="sm" truncate>
            {shown?.name ?? 'Choose an account'}
          </Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {accounts.map((account) => (
          <Menu.Item
            key={account.accountId}
            component="a"
            href={`/dashboard/a/${account.accountId}`}
            className="wrap-anywhere"
            rightSection={account.accountId === accountId ? <IconCheck size={16} aria-label="Shown now" /> : undefined}
          >
            {account.name}
            <Text size="xs" c="dimmed">
              {account.kind === 'organisation' ? 'Organisation' : 'Personal'}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
