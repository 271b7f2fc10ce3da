'use strict';

// A gateway says where it is; a copy of the site elsewhere keeps the address that the document has.
const { home } = document.getElementById('reference').dataset;
const servers = home && [
  { url: new URL(home, location.href).href.replace(/\/$/, ''), description: 'This gateway' },
];

// Nothing of another host: no fonts, no telemetry, no assistant, no editor elsewhere.
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
