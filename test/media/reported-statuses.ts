/** Status of the file's host, and the status and error code that the client gets. */
export const reportedStatuses = [
  [403, 404, 'resource_not_found'],
  [404, 404, 'resource_not_found'],
  [410, 404, 'resource_not_found'],
  [401, 502, 'bad_response_status_code'],
  [500, 502, 'bad_response_status_code'],
  [204, 502, 'bad_response_status_code'],
  [416, 502, 'bad_response_status_code'],
] as const;
