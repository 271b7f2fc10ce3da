/** The server lacks something that a check needs. The check is skipped, with the message as the reason. */
export class Unavailable extends Error {}
