/** The browser's entry to the dashboard: context providers around the pages. */
import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './dashboard.css'
import { MantineProvider } from '@mantine/core'
import { ModalsProvider } from '@mantine/modals'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { Router } from 'wouter'
import { App } from './app'
import { hearEscapeFirst } from './components/escape'
import { queryClient } from './query'
import { cssVariables, theme } from './theme'

hearEscapeFirst()
const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <ModalsProvider>
          <Notifications position="top-right" />
          <Router base="/dashboard">
            <App />
          </Router>
        </ModalsProvider>
      </QueryClientProvider>
    </MantineProvider>,
  )
}
