/** The gateway as a library: mount it in an Express application of your own. */
export { attachSockets } from './app/attach-sockets.ts';
export { createApp } from './app/create-app.ts';
export { type EmbeddedGateway, startGateway } from './app/embed.ts';
