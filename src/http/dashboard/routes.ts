/** Every route behind the dashboard's pages, as one application: the browser's typed client is derived from it. */
import { Elysia } from 'elysia'
import { type GuardDeps, guard } from './guard'

/** What the routes of the dashboard need. */
export type DashboardDeps = GuardDeps

/** Mounts `/dashboard/api`. */
export function dashboardRoutes(deps: DashboardDeps) {
  return new Elysia({ name: 'dashboard-routes' }).use(guard(deps))
}

/** What the typed client of the pages knows of the server. */
export type DashboardApi = ReturnType<typeof dashboardRoutes>
