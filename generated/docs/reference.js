'use strict';

// A gateway sets its own address. A static copy of the site uses the address in the document.
const { home } = document.getElementById('reference').dataset;
const servers = home && [
  { url: new URL(home, location.href).href.replace(/\/$/, ''), description: 'This gateway' },
];

// No requests to other hosts: no fonts, telemetry, assistant or external editor.
globalThis.Scalar.createApiReference('#reference', {
  sources: [
    { title: 'HTTP', slug: 'http', url: 'openapi.json', default: true },
    { title: 'Events', slug: 'events', url: 'asyncapi.json' },
  ],
  ...(servers && { servers }),
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: 'never',
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
});
