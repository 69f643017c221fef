/** Loaded into a gateway ahead of its own code: takes its descriptors the moment that it listens. */
import { takeDescriptors } from './take-descriptors'

const { serve } = Bun

// The gateway's own listener is the one that bounds bodies.
Bun.serve = ((options: Bun.Serve.Options<undefined>) => {
  const server = serve(options)
  if (options.maxRequestBodySize !== undefined) takeDescriptors()
  return server
}) as typeof Bun.serve
