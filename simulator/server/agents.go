package server

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// agentsPath answers agents by the Model Context Protocol.
const agentsPath = "/mcp"

// maxAgentBody bounds a message of an agent, in bytes.
const maxAgentBody = 1 << 20

func (s *Server) agents(c echo.Context) error {
	part := func(b *attached) http.Handler { return b.Agents }
	return handle(s, part, "this simulator answers no agents", s.answerAgent)(c)
}

func (s *Server) answerAgent(c echo.Context, agents http.Handler) error {
	r := c.Request()
	if r.Method != http.MethodPost {
		// There are no sessions, so no stream to get and nothing to delete.
		c.Response().Header().Set("Allow", http.MethodPost)
		return refuse(http.StatusMethodNotAllowed, "%s is not allowed at %s: agents send each message by POST", r.Method, agentsPath)
	}
	release, err := s.buffered(r)
	if err != nil {
		return err
	}
	defer release()
	agents.ServeHTTP(c.Response(), r)
	return nil
}
