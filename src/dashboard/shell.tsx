import {
  ActionIcon,
  AppShell,
  Avatar,
  Burger,
  Button,
  Group,
  Menu,
  NavLink,
  ScrollArea,
  Text,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import {
  IconActivity,
  IconAdjustments,
  IconAlertTriangle,
  IconBell,
  IconBook2,
  IconBuildingBank,
  IconCheck,
  IconChecks,
  IconChevronDown,
  IconCoins,
  IconFileImport,
  IconGauge,
  IconHelp,
  IconHistory,
  IconKey,
  IconLayoutDashboard,
  IconListDetails,
  IconLogout,
  IconMessage2Code,
  IconNotebook,
  IconReceipt,
  IconScale,
  IconServerBolt,
  IconSettings,
  IconStack2,
  IconUsers,
  IconUsersGroup,
  IconZoomMoney,
} from '@tabler/icons-react'
import type { ComponentType, ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import { type Permission, useMay } from './account'
import { confirm } from './components/confirm'
import { keepFocusIn } from './components/keep-focus'
import { Logo } from './components/logo'
import { SchemeToggle } from './components/scheme-toggle'
import { useLeaveGuard } from './leave-guard'
import { signOut, type Viewer } from './session'

type NavigationItem = { path: string; label: string; icon: ComponentType<{ size?: number; stroke?: number }> }

const ACCOUNT_ITEMS: readonly (NavigationItem & { may: Permission })[] = [
  { path: '/', label: 'Overview', icon: IconLayoutDashboard, may: 'billing.read' },
  { path: '/keys', label: 'API keys', icon: IconKey, may: 'usage.read' },
  { path: '/usage', label: 'Usage', icon: IconActivity, may: 'usage.read' },
  { path: '/failures', label: 'Failed requests', icon: IconAlertTriangle, may: 'usage.read' },
  { path: '/batches', label: 'Batches', icon: IconStack2, may: 'usage.read' },
  { path: '/credit', label: 'Credit', icon: IconCoins, may: 'billing.read' },
  { path: '/models', label: 'Models', icon: IconListDetails, may: 'usage.read' },
  { path: '/playground', label: 'Playground', icon: IconMessage2Code, may: 'keys.use' },
  { path: '/budgets', label: 'Budgets', icon: IconGauge, may: 'usage.read' },
  { path: '/alerts', label: 'Alerts', icon: IconBell, may: 'usage.read' },
  { path: '/members', label: 'Members', icon: IconUsersGroup, may: 'members.read' },
  { path: '/audit', label: 'Audit log', icon: IconHistory, may: 'audit.read' },
  { path: '/settings', label: 'Account settings', icon: IconAdjustments, may: 'limits.raise' },
]

const ADMINISTRATOR_ITEMS: readonly NavigationItem[] = [
  { path: '/admin/orders', label: 'Orders', icon: IconReceipt },
  { path: '/admin/statements', label: 'Bank statements', icon: IconFileImport },
  { path: '/admin/accounts', label: 'Accounts', icon: IconUsers },
  { path: '/admin/approvals', label: 'Approvals', icon: IconChecks },
  { path: '/admin/providers', label: 'Providers', icon: IconServerBolt },
  { path: '/admin/margins', label: 'Margins', icon: IconScale },
  { path: '/admin/books', label: 'Books', icon: IconNotebook },
  { path: '/admin/reconciliation', label: 'Reconciliation', icon: IconZoomMoney },
  { path: '/admin/audit', label: 'Audit log', icon: IconBuildingBank },
]

type ShellViewer = Pick<Viewer, 'name' | 'email' | 'role' | 'accounts'>

type ShellProps = { viewer: ShellViewer; accountId: string; children: ReactNode }

/** The frame around a signed-in person's pages: menu, balance, person. On a phone the menu opens from a bar at the top. */
export function Shell({ viewer, accountId, children }: ShellProps) {
  useLeaveGuard(askToLeave)
  const [isOpen, { toggle, close }] = useDisclosure()
  const may = useMay()
  const accountItems = ACCOUNT_ITEMS.filter((item) => may(item.may))
  const [location] = useLocation()
  return (
    <AppShell
      header={{ height: 56, collapsed: false }}
      navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={{ base: 'md', sm: 'xl' }}
    >
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <AppShell.Header className="shell-header">
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Menu" />
            <Logo />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <ActionIcon component="a" href="/docs/guide" variant="subtle" color="gray" size="lg" aria-label="Guide">
              <IconHelp size={20} stroke={1.6} />
            </ActionIcon>
            <ActionIcon
              component="a"
              href="/docs"
              variant="subtle"
              color="gray"
              size="lg"
              aria-label="API documentation"
            >
              <IconBook2 size={20} stroke={1.6} />
            </ActionIcon>
            <SchemeToggle />
            <PersonMenu viewer={viewer} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className="shell-navigation" p="sm">
        <ScrollArea>
          <AccountSwitcher accounts={viewer.accounts} accountId={accountId} />
          <Items items={accountItems} base={`/a/${accountId}`} location={location} label="Main" onOpen={close} />
          {viewer.role === 'admin' && (
            <>
              <Text size="xs" fw={600} c="dimmed" mt="lg" mb={4} px="sm">
                Administration
              </Text>
              <Items items={ADMINISTRATOR_ITEMS} location={location} label="Administration" onOpen={close} />
            </>
          )}
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main ref={keepFocusIn} id="content" tabIndex={-1}>
        {children}
      </AppShell.Main>
    </AppShell>
  )
}

function askToLeave(leave: () => Promise<void>): void {
  confirm({
    title: 'Leave without saving?',
    body: 'What you changed on this page is not saved.',
    action: 'Leave',
    run: leave,
  })
}

type ItemsProps = {
  items: readonly NavigationItem[]
  base?: string
  location: string
  label: string
  onOpen(): void
}

function Items({ items, base = '', location, label, onOpen }: ItemsProps) {
  return (
    <nav aria-label={label}>
      {items.map(({ path, label: text, icon: Icon }) => {
        const href = path === '/' ? base : base + path
        const isActive = path === '/' ? location === base : location.startsWith(href)
        return (
          <NavLink
            key={path}
            component={Link}
            href={href}
            onClick={onOpen}
            label={text}
            leftSection={<Icon size={18} stroke={1.7} />}
            active={isActive}
            aria-current={isActive ? 'page' : undefined}
            mb={2}
            style={{ borderRadius: 8 }}
          />
        )
      })}
    </nav>
  )
}

function PersonMenu({ viewer }: { viewer: ShellViewer }) {
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <UnstyledButton>
          <Avatar radius="xl" size={34} color="brand" name={viewer.name} aria-hidden="true" />
          <VisuallyHidden>Account of {viewer.name}</VisuallyHidden>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label className="wrap-anywhere">{viewer.email}</Menu.Label>
        <Menu.Item component={Link} href="/settings" leftSection={<IconSettings size={16} />}>
          Settings
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

type AccountSwitcherProps = { accounts: Viewer['accounts']; accountId: string }

/** The field to choose the shown account, which reloads the page. Hidden if the person has only one account. */
function AccountSwitcher({ accounts, accountId }: AccountSwitcherProps) {
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
