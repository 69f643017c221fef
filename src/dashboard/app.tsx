/** Chooses the page for a URL, and redirects people who are not signed in. */
import { Center, Loader } from '@mantine/core'
import { Suspense, useEffect, useState } from 'react'
import { Redirect, Route, Switch, useLocation } from 'wouter'
import { SessionEnded } from '@/dashboard/components/session-ended'
import { ErrorState } from '@/dashboard/components/states/error-state'
import { NotFound } from '@/dashboard/components/states/not-found'
import { PageBoundary } from '@/dashboard/components/states/page-boundary'
import { StepUpHost } from '@/dashboard/components/step-up'
import { accountAt, type Permission, rememberAccount, useMay } from './account'
import { lazyPage } from './load-page'
import { PAGES, type PageRoute } from './pages'
import { useViewer, type Viewer } from './session'
import { Shell } from './shell'
import { showAccount } from './shown-account'

const AdministratorGate = lazyPage(async () => {
  return (await import('@/people/sign-in/pages/administrator-gate')).AdministratorGate
})
const PUBLIC_PAGES = PAGES.filter(({ audience }) => audience === 'public')
const PERSON_PAGES = PAGES.filter(({ audience }) => audience === 'person')
const ADMINISTRATOR_PAGES = PAGES.filter(({ audience }) => audience === 'administrator')
type AccountRoute = PageRoute & { audience: Permission }
const ACCOUNT_PAGES = PAGES.filter((page): page is AccountRoute => page.audience.includes('.'))

export function App() {
  return (
    <Switch>
      {PUBLIC_PAGES.map(({ path, component: Component }) => (
        <Route key={path} path={path}>
          <PageBoundary>
            <Waiting>
              <Component />
            </Waiting>
          </PageBoundary>
        </Route>
      ))}
      <Route>
        <SignedIn />
      </Route>
    </Switch>
  )
}

function SignedIn() {
  const viewer = useViewer()
  const [location] = useLocation()
  if (viewer.isPending) return <Spinner />
  // If the request fails, the page stays as it is, and text that was typed into it is not lost.
  if (viewer.data === undefined) return <ErrorState error={viewer.error} retry={viewer.refetch} />
  if (viewer.data === null) return <Redirect to={`/sign-in${backTo(location)}`} replace />
  const accountId = accountAt(location, viewer.data)
  if (!showAccount(accountId)) return <Spinner />
  return (
    <Shell viewer={viewer.data} accountId={accountId}>
      <PageBoundary key={location}>
        <Waiting>
          <Pages viewer={viewer.data} accountId={accountId} />
        </Waiting>
      </PageBoundary>
      <StepUpHost />
      <SessionEnded viewer={viewer.data} />
    </Shell>
  )
}

function Pages({ viewer, accountId }: { viewer: Viewer; accountId: string }) {
  return (
    <Switch>
      <Route path="/a/:accountId" nest>
        <AccountPages viewer={viewer} accountId={accountId} />
      </Route>
      {PERSON_PAGES.map(routeTo)}
      {viewer.role === 'admin' && (
        <Route path="/admin/*?">
          <AdministratorPages needsApp={!viewer.isTotpEnabled} />
        </Route>
      )}
      {ACCOUNT_PAGES.map(({ path }) => (
        <Route key={path} path={path}>
          <ToAccount accountId={accountId} />
        </Route>
      ))}
      <Route component={NotFound} />
    </Switch>
  )
}

function ToAccount({ accountId }: { accountId: string }) {
  const [location] = useLocation()
  const path = location === '/' ? '' : location
  return <Redirect to={`/a/${accountId}${path}${window.location.search}`} replace />
}

/** People who are not members of the account see an error without a menu. */
function AccountPages({ viewer, accountId }: { viewer: Viewer; accountId: string }) {
  const may = useMay()
  const isOwn = viewer.accounts.some((account) => account.accountId === accountId)
  useEffect(() => {
    if (isOwn) rememberAccount(accountId)
  }, [isOwn, accountId])
  return (
    <Switch>
      {ACCOUNT_PAGES.filter(({ audience }) => may(audience)).map(routeTo)}
      {isOwn && !may('billing.read') && (
        <Route path="/">
          <Redirect to="/keys" replace />
        </Route>
      )}
      <Route component={NotFound} />
    </Switch>
  )
}

/** Administration pages, which require an authenticator app. */
function AdministratorPages({ needsApp }: { needsApp: boolean }) {
  // True until the last step of the set-up, since the app becomes active before its backup codes are shown.
  const [isGated, setGated] = useState(needsApp)
  if (isGated) return <AdministratorGate onDone={() => setGated(false)} />
  return (
    <Switch>
      {ADMINISTRATOR_PAGES.map(routeTo)}
      <Route component={NotFound} />
    </Switch>
  )
}

function routeTo({ path, component: Component }: PageRoute) {
  return (
    <Route key={path} path={path}>
      <Component />
    </Route>
  )
}

function Waiting({ children }: { children: React.ReactNode }) {
  return <Suspense fallback={<Spinner />}>{children}</Suspense>
}

function Spinner() {
  return (
    <Center mih="40vh">
      <Loader role="status" aria-label="Loading" />
    </Center>
  )
}

/** No `next` for the overview, which is the default page. */
function backTo(location: string): string {
  return location === '/' ? '' : `?next=${encodeURIComponent(location + window.location.search)}`
}
