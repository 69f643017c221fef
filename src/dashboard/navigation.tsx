/** The entries of the dashboard's menu, for everybody and for administrators. */
import {
  IconActivity,
  IconAlertTriangle,
  IconBuildingBank,
  IconChecks,
  IconCoins,
  IconFileImport,
  IconKey,
  IconLayoutDashboard,
  IconListDetails,
  IconMessage2Code,
  IconReceipt,
  IconScale,
  IconServerBolt,
  IconUsers,
  IconZoomMoney,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'

export type NavigationItem = { path: string; label: string; icon: ComponentType<{ size?: number; stroke?: number }> }

/** For everybody. */
export const MEMBER_ITEMS: readonly NavigationItem[] = [
  { path: '/', label: 'Overview', icon: IconLayoutDashboard },
  { path: '/keys', label: 'API keys', icon: IconKey },
  { path: '/usage', label: 'Usage', icon: IconActivity },
  { path: '/failures', label: 'Failed requests', icon: IconAlertTriangle },
  { path: '/credit', label: 'Credit', icon: IconCoins },
  { path: '/models', label: 'Models', icon: IconListDetails },
  { path: '/playground', label: 'Playground', icon: IconMessage2Code },
]

/** For administrators. */
export const ADMINISTRATOR_ITEMS: readonly NavigationItem[] = [
  { path: '/admin/orders', label: 'Orders', icon: IconReceipt },
  { path: '/admin/statements', label: 'Bank statements', icon: IconFileImport },
  { path: '/admin/accounts', label: 'Accounts', icon: IconUsers },
  { path: '/admin/approvals', label: 'Approvals', icon: IconChecks },
  { path: '/admin/providers', label: 'Providers', icon: IconServerBolt },
  { path: '/admin/margins', label: 'Margins', icon: IconScale },
  { path: '/admin/reconciliation', label: 'Reconciliation', icon: IconZoomMoney },
  { path: '/admin/audit', label: 'Audit log', icon: IconBuildingBank },
]
