/** What a client is told, status and code, when the host of a file answers with a status. */
export const toldStatuses = [
  [403, 404, 'resource_not_found'],
  [404, 404, 'resource_not_found'],
  [410, 404, 'resource_not_found'],
  [401, 502, 'bad_response_status_code'],
  [500, 502, 'bad_response_status_code'],
  [204, 502, 'bad_response_status_code'],
  [416, 502, 'bad_response_status_code'],
] as const;
