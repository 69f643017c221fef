/** Chooses the page for an address, and sends people who are not signed in to where they can. */
import { Center, Loader } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { Redirect, Route, Switch, useLocation } from 'wouter'
import { ErrorState } from '@/dashboard/components/states/error-state'
import { NotFound } from '@/dashboard/components/states/not-found'
import { PageBoundary } from '@/dashboard/components/states/page-boundary'
import { StepUpHost } from '@/dashboard/components/step-up'
import { PAGES, type PageRoute } from './pages'
import { useViewer } from './session'
import { Shell } from './shell'

const AdministratorGate = lazy(async () => ({
  default: (await import('@/dashboard/pages/settings/administrator-gate')).AdministratorGate,
}))
const PUBLIC_PAGES = PAGES.filter(({ audience }) => audience === 'public')
const MEMBER_PAGES = PAGES.filter(({ audience }) => audience === 'member')

/** The whole application below `/dashboard`. */
export function App() {
  return (
    <Switch>
      {PUBLIC_PAGES.map(({ path, component: Component }) => (
        <Route key={path} path={path}>
          <Waiting>
            <Component />
          </Waiting>
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
  if (viewer.isError) return <ErrorState error={viewer.error} retry={viewer.refetch} />
  if (viewer.data === null) return <Redirect to={`/sign-in${backTo(location)}`} replace />
  return (
    <Shell viewer={viewer.data}>
      <PageBoundary key={location}>
        <Waiting>
          <Pages routes={viewer.data.role === 'admin' ? PAGES : MEMBER_PAGES} needsApp={!viewer.data.isTotpEnabled} />
        </Waiting>
      </PageBoundary>
      <StepUpHost />
    </Shell>
  )
}

type PagesProps = {
  routes: readonly PageRoute[]
  /** Administration opens once an authenticator app is set up. */
  needsApp: boolean
}

function Pages({ routes, needsApp }: PagesProps) {
  // Kept until its last step: the app is in force before its owner has seen the backup codes.
  const [isGated, setGated] = useState(needsApp)
  return (
    <Switch>
      {routes.map(({ path, audience, component: Component }) => (
        <Route key={path} path={path}>
          {isGated && audience === 'administrator' ? (
            <AdministratorGate onDone={() => setGated(false)} />
          ) : (
            <Component />
          )}
        </Route>
      ))}
      <Route>
        <NotFound />
      </Route>
    </Switch>
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

/** The overview is where people end up anyway. */
function backTo(location: string): string {
  return location === '/' ? '' : `?next=${encodeURIComponent(location + window.location.search)}`
}
