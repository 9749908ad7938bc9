/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool top --web: an HTTP server of one thread for a page with the view of devicepool top. It
 * answers GET of the embedded files and of snapshot.json, one request per connection; it opens no
 * files. Each connection is bounded in size and time, and a browser that was sent here by another
 * site's name is refused, as the snapshot is for those who may read the service's socket.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "top.h"

enum {
    MOST_CLIENTS = 32,
    REQUEST_BYTES = 8192, /* browsers send one or two thousand */
    DRAINED_BYTES = 65536,
    MOST_LINES = 100
};

#define REQUEST_SECONDS 5.0   /* until a request is complete */
#define RESPONSE_SECONDS 10.0 /* until a client has read the response */
#define DRAIN_SECONDS 1.0     /* of what a client sends that has been answered already */
#define PATIENCE_SECONDS 2.0  /* for the service, while all clients wait */
#define SNAPSHOT_SECONDS 0.5  /* as long one snapshot is for all clients */
#define PAUSE_SECONDS 0.2     /* after a connection could not be accepted */

enum state { UNUSED, READING, WRITING, DRAINING };

struct client {
    enum state state;
    int file;
    double end;
    size_t size; /* of the request, of what is written, or drained */
    char request[REQUEST_BYTES + 1];
    char *response;
    size_t response_size;
};

static struct {
    const char *path; /* of the status socket */
    struct client clients[MOST_CLIENTS];
    char *snapshot; /* the last one, or why there is none */
    int has_snapshot;
    double snapshot_time;
} server;

/* ---- responses ---------------------------------------------------------------------------------
 */

static const char fields[] =
    "Connection: close\r\n"
    "Cache-Control: no-store\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'\r\n";

static void respond(
    struct client *client, const char *status, const char *more, const char *type, const char *body)
{
    const size_t length = strlen(body), size = length + 1024;

    client->response = bench_alloc(size, 1);
    client->response_size = (size_t)snprintf(client->response, size,
        "HTTP/1.1 %s\r\nContent-Type: %s; charset=utf-8\r\nContent-Length: %zu\r\n%s%s\r\n%s",
        status, type, length, more, fields, body);
    client->state = WRITING;
    client->size = 0;
    client->end = bench_now() + RESPONSE_SECONDS;
}

static void refuse(struct client *client, const char *status, const char *more)
{
    char body[128];

    snprintf(body, sizeof(body), "%s\n", status);
    respond(client, status, more, "text/plain", body);
}

/* Reads a snapshot, unless the last one is recent. */
static void update_snapshot(void)
{
    cJSON *snapshot;

    if (server.snapshot && bench_now() < server.snapshot_time + SNAPSHOT_SECONDS)
        return;
    snapshot = top_read_snapshot(server.path, PATIENCE_SECONDS);
    server.has_snapshot = snapshot != NULL;
    if (!snapshot) {
        const char *reason = top_reason(errno);

        snapshot = cJSON_CreateObject();
        cJSON_AddStringToObject(snapshot, "error", reason);
    }
    cJSON_AddStringToObject(snapshot, "socket", server.path);
    cJSON_free(server.snapshot);
    server.snapshot = cJSON_PrintUnformatted(snapshot);
    server.snapshot_time = bench_now();
    cJSON_Delete(snapshot);
}

static void respond_snapshot(struct client *client)
{
    update_snapshot();
    if (!server.snapshot)
        refuse(client, "500 Internal Server Error", "");
    else
        respond(client, server.has_snapshot ? "200 OK" : "503 Service Unavailable", "",
            "application/json", server.snapshot);
}

static const char *type_of(const char *name)
{
    const char *end = strrchr(name, '.');

    return strcmp(end, ".js") == 0    ? "text/javascript"
           : strcmp(end, ".css") == 0 ? "text/css"
                                      : "text/html";
}

static void respond_target(struct client *client, const char *target)
{
    const char *name = target[0] == '/' && !target[1] ? "/top.html" : target;

    if (strcmp(name, "/snapshot.json") == 0) {
        respond_snapshot(client);
        return;
    }
    for (size_t i = 0; i < top_files_count; i++)
        if (name[0] == '/' && strcmp(name + 1, top_files[i].name) == 0) {
            respond(client, "200 OK", "", type_of(name), top_files[i].text);
            return;
        }
    refuse(client, "404 Not Found", "");
}

/* ---- requests ----------------------------------------------------------------------------------
 */

/* Whether the value of Host is an address or localhost. A name may be another site's whose address
 * was changed to this host's, so that its scripts could read what is served here. */
static int is_host_allowed(const char *value)
{
    struct in6_addr address;
    char host[64];
    size_t length = value[0] == '[' ? strcspn(value, "]") : strcspn(value, ":");
    const char *start = value + (value[0] == '[');

    if (length >= sizeof(host))
        return 0;
    length -= value[0] == '[';
    memcpy(host, start, length);
    host[length] = 0;
    if (value[0] == '[')
        return inet_pton(AF_INET6, host, &address) == 1;
    return strcasecmp(host, "localhost") == 0 || inet_pton(AF_INET, host, &address) == 1;
}

/* The value of a header line if its name is `name`, else NULL. */
static char *value_of_field(char *line, const char *name)
{
    const size_t length = strlen(name);

    if (strncasecmp(line, name, length) != 0 || line[length] != ':')
        return NULL;
    line += length + 1;
    return line + strspn(line, " \t");
}

/* Checks the header lines: "", or the status that refuses the request. */
static const char *check_fields(char *lines, int needs_host)
{
    int hosts = 0, count = 0;

    for (char *line; (line = strsep(&lines, "\n")) && *line;) {
        char *value;

        if (line[strlen(line) - 1] == '\r')
            line[strlen(line) - 1] = 0;
        if (!*line)
            break;
        if (++count > MOST_LINES || !strchr(line, ':') || line[0] == ':' || line[0] == ' ' ||
            line[0] == '\t')
            return "400 Bad Request";
        value = value_of_field(line, "Host");
        if (value && (++hosts > 1 || !is_host_allowed(value)))
            return hosts > 1 ? "400 Bad Request" : "403 Forbidden";
        value = value_of_field(line, "Content-Length");
        if ((value && strcmp(value, "0") != 0) || value_of_field(line, "Transfer-Encoding"))
            return "413 Content Too Large";
    }
    return needs_host && !hosts ? "400 Bad Request" : "";
}

/* Answers a complete request. */
static void answer(struct client *client)
{
    char *rest = client->request, *line = strsep(&rest, "\n");
    const char *method = strsep(&line, " ");
    char *target = line ? strsep(&line, " ") : NULL;
    const char *refusal;
    int is_old;

    if (!target || !line || line[0] == 0 || strlen(client->request) == 0) {
        refuse(client, "400 Bad Request", "");
        return;
    }
    is_old = strcmp(line, "HTTP/1.0\r") == 0;
    if (strncmp(line, "HTTP/", 5) != 0) {
        refuse(client, "400 Bad Request", "");
        return;
    }
    if (!is_old && strcmp(line, "HTTP/1.1\r") != 0) {
        refuse(client, "505 HTTP Version Not Supported", "");
        return;
    }
    refusal = check_fields(rest, !is_old);
    if (*refusal)
        refuse(client, refusal, "");
    else if (strcmp(method, "GET") != 0)
        refuse(client, "405 Method Not Allowed", "Allow: GET\r\n");
    else
        respond_target(client, strsep(&target, "?"));
}

/* ---- connections -------------------------------------------------------------------------------
 */

static void close_client(struct client *client)
{
    close(client->file);
    free(client->response);
    client->response = NULL;
    client->state = UNUSED;
}

static void read_request(struct client *client)
{
    const ssize_t count =
        recv(client->file, client->request + client->size, REQUEST_BYTES - client->size, 0);

    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (count <= 0) {
        close_client(client);
        return;
    }
    client->size += (size_t)count;
    client->request[client->size] = 0;
    for (size_t i = client->size - (size_t)count; i < client->size; i++) {
        const unsigned char byte = (unsigned char)client->request[i];

        if ((byte < ' ' && byte != '\r' && byte != '\n' && byte != '\t') || byte == 0x7f) {
            refuse(client, "400 Bad Request", "");
            return;
        }
    }
    if (strstr(client->request, "\r\n\r\n"))
        answer(client);
    else if (client->size == REQUEST_BYTES)
        refuse(client, "431 Request Header Fields Too Large", "");
}

/* At the end the client is given time to read: a close with unread input would discard the response
 * on its way. */
static void write_response(struct client *client)
{
    const ssize_t count = send(client->file, client->response + client->size,
        client->response_size - client->size, MSG_NOSIGNAL);

    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (count < 0) {
        close_client(client);
        return;
    }
    client->size += (size_t)count;
    if (client->size < client->response_size)
        return;
    shutdown(client->file, SHUT_WR);
    client->state = DRAINING;
    client->size = 0;
    client->end = bench_now() + DRAIN_SECONDS;
}

static void drain(struct client *client)
{
    const ssize_t count = recv(client->file, client->request, REQUEST_BYTES, 0);

    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    client->size += count > 0 ? (size_t)count : 0;
    if (count <= 0 || client->size > DRAINED_BYTES)
        close_client(client);
}

/* Returns whether clients may be accepted again at once. */
static int accept_client(int listener)
{
    const int file = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (file < 0)
        return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
    for (size_t i = 0; i < MOST_CLIENTS; i++) {
        struct client *client = &server.clients[i];

        if (client->state == UNUSED) {
            client->state = READING;
            client->file = file;
            client->size = 0;
            client->end = bench_now() + REQUEST_SECONDS;
            return 1;
        }
    }
    close(file);
    return 1;
}

static void serve_client(struct client *client, short events)
{
    if (events && client->state == READING)
        read_request(client);
    else if (events && client->state == WRITING)
        write_response(client);
    else if (events && client->state == DRAINING)
        drain(client);
    if (client->state != UNUSED && bench_now() >= client->end)
        close_client(client);
}

/* Until a signal. Where all places are taken, further clients wait in the listener's queue. */
static void serve(int listener)
{
    double pause_end = 0;

    while (!top_is_interrupted()) {
        struct pollfd files[1 + MOST_CLIENTS];
        double now = bench_now(), next = now + 3600;
        size_t taken = 0;

        for (size_t i = 0; i < MOST_CLIENTS; i++) {
            const struct client *client = &server.clients[i];

            files[1 + i] = (struct pollfd){.fd = client->state == UNUSED ? -1 : client->file,
                .events = client->state == WRITING ? POLLOUT : POLLIN};
            taken += client->state != UNUSED;
            if (client->state != UNUSED && client->end < next)
                next = client->end;
        }
        files[0] = (struct pollfd){
            .fd = taken == MOST_CLIENTS || now < pause_end ? -1 : listener, .events = POLLIN};
        if (now < pause_end && pause_end < next)
            next = pause_end;
        if (top_poll(files, CLI_COUNT_OF(files), next > now ? next - now : 0) < 0)
            memset(files, 0, sizeof(files)); /* a signal */
        for (size_t i = 0; i < MOST_CLIENTS; i++)
            serve_client(&server.clients[i], files[1 + i].revents);
        if (files[0].revents && !accept_client(listener))
            pause_end = bench_now() + PAUSE_SECONDS;
    }
    for (size_t i = 0; i < MOST_CLIENTS; i++)
        if (server.clients[i].state != UNUSED)
            close_client(&server.clients[i]);
    cJSON_free(server.snapshot);
}

/* ---- the address -------------------------------------------------------------------------------
 */

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* Parses "8080", "127.0.0.1:8080", "localhost:8080" and "[::1]:8080". Returns the size, 0: invalid.
 */
static socklen_t parse_address(const char *where, union address *address)
{
    const char *colon = strrchr(where, ':'), *port = colon ? colon + 1 : where;
    char host[64] = "127.0.0.1", *end;
    size_t length = colon ? (size_t)(colon - where) : 0;
    unsigned long number = strtoul(port, &end, 10);

    memset(address, 0, sizeof(*address));
    if (*port < '0' || *port > '9' || *end || number > 65535 || length >= sizeof(host))
        return 0;
    if (colon && !(length == 9 && strncmp(where, "localhost", 9) == 0)) {
        memcpy(host, where, length);
        host[length] = 0;
    }
    if (host[0] == '[' && host[length - 1] == ']') {
        host[length - 1] = 0;
        address->v6.sin6_family = AF_INET6;
        address->v6.sin6_port = htons((uint16_t)number);
        return inet_pton(AF_INET6, host + 1, &address->v6.sin6_addr) == 1 ? sizeof(address->v6) : 0;
    }
    address->v4.sin_family = AF_INET;
    address->v4.sin_port = htons((uint16_t)number);
    return inet_pton(AF_INET, host, &address->v4.sin_addr) == 1 ? sizeof(address->v4) : 0;
}

/* A listening socket whose address is then that of the system, or -1 with errno. */
static int listen_at(union address *address, socklen_t *size)
{
    const int one = 1;
    int error, file = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (file < 0)
        return -1;
    setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (!bind(file, &address->any, *size) && !listen(file, 64) &&
        !getsockname(file, &address->any, size))
        return file;
    error = errno;
    close(file);
    errno = error;
    return -1;
}

int top_check_address(const struct cli_command *self, const char *where)
{
    union address address;

    if (parse_address(where, &address))
        return CLI_GO;
    return cli_usage(self,
        "--web takes a port or an address and a port, such as 8080, 127.0.0.1:8080 or "
        "[::1]:8080, not '%s'",
        where);
}
int top_serve(const char *path, const char *where)
{
    union address address;
    socklen_t size = parse_address(where, &address);
    char host[INET6_ADDRSTRLEN];
    int listener, is_v6;

    top_catch_signals();
    listener = listen_at(&address, &size);
    if (listener < 0)
        return cli_fail_with("'%s' cannot be listened at: %s", where, strerror(errno));
    is_v6 = address.any.sa_family == AF_INET6;
    inet_ntop(address.any.sa_family,
        is_v6 ? (const void *)&address.v6.sin6_addr : (const void *)&address.v4.sin_addr, host,
        sizeof(host));
    printf("http://%s%s%s:%u/ shows '", is_v6 ? "[" : "", host, is_v6 ? "]" : "",
        ntohs(is_v6 ? address.v6.sin6_port : address.v4.sin_port));
    cli_print_text(stdout, path, "", 1000);
    printf("' until Ctrl-C\n");
    fflush(stdout);
    server.path = path;
    serve(listener);
    close(listener);
    return CLI_OK;
}
